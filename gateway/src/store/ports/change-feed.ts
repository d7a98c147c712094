/**
 * Defines the feed of policy changes, which every cache of keys, limits, models and sessions follows: the caches of this
 * process and, over a shared database, those of other nodes. Money is not in it: caps belong to the ledger.
 */
import type { PolicyChange } from './policy.ts';
import type { RotationSubject } from './providers.ts';

/** One change. Keys, workspaces, accounts and limit rules come with their new state, so that it applies in one step. */
export type Change =
  | PolicyChange
  /** A provider, a route or a price that was entered in the console. A credential changes its provider. */
  | { readonly of: 'provider'; readonly name: string }
  | { readonly of: 'route'; readonly model: string }
  | { readonly of: 'price'; readonly model: string }
  /** A target of a model, or a credential of a provider, went out of rotation or back. */
  | ({ readonly of: 'rotation' } & RotationSubject)
  /** A guardrail rule was created, changed or deleted. */
  | { readonly of: 'guardrail'; readonly id: string }
  /** A membership: the rights of a user and of their keys. */
  | { readonly of: 'member'; readonly person: string }
  /** A session, or the user of one. */
  | { readonly of: 'session' }
  /** The configuration of this process. */
  | { readonly of: 'config' };

/** A cache that follows the feed. It reads the store but never writes to it: a write would wait for its own delivery. */
export interface ChangeFollower {
  /**
   * Applies the changes of one commit. All followers start within one turn of the event loop, so no request sees the
   * effect of a commit in one cache and not in another, as far as they apply it synchronously.
   */
  follow(changes: readonly Change[], version: number): void | Promise<void>;
  /** Reads everything from the store again, because commits were missed. */
  reload(): Promise<void>;
}

export interface ChangeFeed {
  /** From the next commit on. The follower has loaded its state before. */
  subscribe(follower: ChangeFollower): void;
  /**
   * Delivers the changes of a commit to each follower of this process exactly once, after those of all earlier calls;
   * versions are consecutive, from 1. Resolves when they apply. `commit` resolves to the changes once they are durable;
   * if it rejects or is empty, nothing is delivered and no version is used; but where it rejects with OutcomeUnknown, all
   * followers reload. Rejects with the commit's failure, or with a follower's: that follower has missed the version and
   * reloads in place of the next one.
   */
  publish(commit: Promise<readonly Change[]>): Promise<void>;
}
