/**
 * Defines administrative commands: their context, their replies, and shared look-ups. Knows no single command and no
 * socket.
 */
import type { z } from 'zod';
import type { Served } from '../config/console-entries.ts';
import { wordIssue } from '../config/file/schema-words.ts';
import type { KeyDirectory } from '../identity/key-directory.ts';
import { maskKeys, type Secret } from '../lib/secret.ts';
import type { LinkMakers, VerifyEmail } from '../people/members/operator-tools.ts';
import type { ClientProtocolName } from '../protocols/names.ts';
import { BY_COMMAND_LINE, type ChangedBy } from '../store/ports/audit.ts';
import type { AlertStore } from '../store/ports/books/alerts.ts';
import type { GuardrailRule, GuardrailStore, GuardrailTrial } from '../store/ports/books/guardrails.ts';
import type { ReconciliationStore } from '../store/ports/books/reconciliation.ts';
import type { SavedViewStore } from '../store/ports/calls/saved-views.ts';
import type { Ledger, StatementReader } from '../store/ports/ledger.ts';
import type { Caps, LimitLayer, Subject } from '../store/ports/limits.ts';
import type { PolicyStore, StoredAccount } from '../store/ports/policy.ts';
import type { ProviderStore, StoredCredential } from '../store/ports/providers.ts';
import type { StoredKey, StoredWorkspace } from '../store/ports/records.ts';
import type { ExplanationView, RouteView, StatesView } from './routing/routing-shapes.ts';

/** A provider of the configuration or of the console. */
type Provider = NonNullable<ReturnType<Served['config']['providers']['get']>>;

/** A model that a provider offers, and when it shuts down there, or at its vendor; null: it is not known. */
export interface OfferedModel {
  readonly model: string;
  readonly retires: { readonly on: string; readonly by: 'provider' | 'vendor' } | null;
}

/** The limit rules that apply to calls. */
export interface RulesInForce {
  get(subject: Subject): Caps | null;
}

/** The console's one-time links. */
export interface ConsoleLinks extends LinkMakers {
  /** Of the running server; null: none is running. */
  readonly served: () => ServedAddress | null;
}

export interface ServedAddress {
  /** Whether the server serves the console. */
  readonly console: boolean;
  /** The prefix of the console's links: the public address, where one is configured. */
  readonly baseUrl: string;
  /** Where the server listens, as programs on its machine reach it. */
  readonly localUrl: string;
}

/** The public names of models, including aliases, and where they are defined: words after "there is no model". */
export interface ModelNames {
  readonly names: readonly string[];
  readonly place: string;
}

/** Binds secrets to a credential and to the origin that they may be sent to. Base64. */
export type SealCredential = (
  credential: Pick<StoredCredential, 'provider' | 'name'>,
  origin: string,
  secrets: { readonly [name: string]: Secret },
) => string;

/** The request of a routing preview; null: a default of the preview. */
export interface RoutePreview {
  readonly model: string;
  readonly protocol: ClientProtocolName | null;
  readonly keyId: string | null;
  readonly body: { readonly [member: string]: unknown } | null;
  readonly session: string | null;
}

/** The routing of the running server. */
export interface LiveRouting {
  /** Closes the breakers of a target by hand and ends the pauses of its credentials. False: it is out of rotation. */
  close(model: string, target: string): boolean;
  /** The states of providers, targets and credentials. */
  states(): StatesView;
  /** Where a request would go now. */
  explain(query: RoutePreview): Promise<ExplanationView>;
}

/** What commands on routes and credentials use. */
export interface RoutingContext {
  readonly book: ProviderStore;
  /** Null: not known here, because no server runs and no configuration file names the providers. */
  served(): Served | null | Promise<Served | null>;
  readonly seal: SealCredential;
  /** Requests the list of models of a provider. `message`: what is wrong, or was found, without any credential. */
  probe(provider: Provider): Promise<{
    readonly ok: boolean;
    readonly message: string;
    readonly models: readonly OfferedModel[];
    readonly isCut: boolean;
  }>;
  /** Null: no server runs. */
  readonly live: LiveRouting | null;
}

/** The context of commands: first what is on disk, then what is in memory. */
export interface ControlContext {
  /** Its changes are in force once they are kept; without a server they are in force at the next start. */
  readonly policies: PolicyStore;
  readonly ledger: Pick<Ledger, 'topup' | 'correct' | 'readMovement' | 'readBalances'>;
  readonly statements: Pick<StatementReader, 'readStatement'>;
  readonly directory: KeyDirectory;
  readonly limits: RulesInForce;
  /**
   * Runs `move`, which adds money to an account (negative: removes it) outside of calls and resolves once that is
   * durable, and applies it to what calls may spend. Integer nano-USD.
   */
  credit<Moved>(account: string, amount: bigint, move: () => Promise<Moved>): Promise<Moved>;
  readonly links: ConsoleLinks;
  readonly users: { readonly verifyEmail: VerifyEmail };
  /** The served models; null: not known here, so no name is refused. */
  modelNames(): ModelNames | null | Promise<ModelNames | null>;
  readonly routing: RoutingContext;
  readonly reconciliations: Pick<ReconciliationStore, 'save'>;
  readonly alerts: Pick<
    AlertStore,
    'readRules' | 'createRule' | 'changeRule' | 'deleteRule' | 'enqueue' | 'readDeliveries'
  >;
  readonly guardrails: GuardrailStore;
  /** Runs one rule on a text, also a disabled one. Null: no server runs. */
  readonly tryGuardrail:
    | ((rule: GuardrailRule, text: string, side: 'request' | 'answer') => Promise<GuardrailTrial>)
    | null;
  readonly views: Pick<SavedViewStore, 'readViews' | 'createView' | 'changeView' | 'deleteView'>;
  /** The current time, unix ms. */
  nowMs(): number;
}

/** Who requests a command, and their authority: the operator's, or that of one account's users. */
export interface CommandOrigin extends ChangedBy {
  readonly authority: LimitLayer;
}

/** Anyone with access to the data folder. */
export const FROM_COMMAND_LINE: CommandOrigin = { ...BY_COMMAND_LINE, authority: 'operator' };

/** One run of a command: its context, its name, and who requested it. */
export interface CommandRun extends ControlContext {
  readonly act: string;
  readonly by: CommandOrigin;
}

/** A value that JSON represents exactly. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [member: string]: Json };

/**
 * `usage`: wrong usage. `failed`: it cannot be done. `forbidden`: not permitted to the requester. The message includes
 * the remedy.
 */
export type ControlReply =
  | { readonly ok: true; readonly result: Json }
  | { readonly ok: false; readonly kind: 'usage' | 'failed' | 'forbidden'; readonly message: string };

/** A reply, or a fault that leaves it unknown whether the command took effect. */
export type ControlAnswer = ControlReply | { readonly ok: false; readonly kind: 'unknown'; readonly message: string };

/** A command that validates its raw arguments before it runs. */
export type ControlCommand = (run: CommandRun, rawArguments: unknown) => Promise<ControlReply>;

/** Thrown by a command that cannot be done or was used wrongly; the message includes the remedy. */
export class CommandFailure extends Error {
  readonly kind: 'usage' | 'failed' | 'forbidden';

  constructor(message: string, kind: CommandFailure['kind'] = 'failed') {
    super(message);
    this.name = 'CommandFailure';
    this.kind = kind;
  }
}

/**
 * Builds a command from the schema of its arguments and its work. Arguments that do not fit the schema never reach the
 * work.
 */
export function defineCommand<Shape extends z.ZodType>(
  shape: Shape,
  work: (run: CommandRun, given: z.output<Shape>) => Promise<Json | RouteView | readonly RouteView[]>,
): ControlCommand {
  return async (run, rawArguments) => {
    const given = shape.safeParse(rawArguments, { error: wordIssue });
    if (!given.success) return { ok: false, kind: 'usage', message: given.error.issues.map(renderIssue).join('\n') };
    try {
      // A route is JSON too; its type has members that may be undefined, which JSON omits.
      return { ok: true, result: (await work(run, given.data)) as Json };
    } catch (fault) {
      if (fault instanceof CommandFailure) return { ok: false, kind: fault.kind, message: fault.message };
      throw fault;
    }
  };
}

function renderIssue({ path, message }: z.core.$ZodIssue): string {
  return path.length === 0 ? message : `${path.map(String).join('.')}: ${message}`;
}

/** @throws CommandFailure if there is no such key. */
export function findKey({ directory }: ControlContext, id: string): StoredKey {
  const key = directory.keys.get(id);
  if (key === undefined)
    throw new CommandFailure(
      `There is no key with the id ${JSON.stringify(maskKeys(id))}. List them: tollgate keys list`,
    );
  return key;
}

/** A key that can still be changed. @throws CommandFailure if there is no such key, or it is revoked. */
export function findLivingKey(context: ControlContext, id: string): StoredKey {
  const key = findKey(context, id);
  if (key.status === 'revoked') {
    throw new CommandFailure(
      `The key ${id} is revoked permanently. Create another one: tollgate keys create --name NAME`,
    );
  }
  return key;
}

/** @throws CommandFailure if there is no such workspace. */
export function findWorkspace({ directory }: ControlContext, id: string): StoredWorkspace {
  const workspace = directory.workspaces.get(id);
  if (workspace === undefined) {
    throw new CommandFailure(
      `There is no workspace with the id ${JSON.stringify(id)}. List them: tollgate workspaces list. Or create it: tollgate workspaces create ID`,
    );
  }
  return workspace;
}

/** @throws CommandFailure if there is no such account. */
export function findAccount({ directory }: ControlContext, id: string): StoredAccount {
  const account = directory.accounts.get(id);
  if (account === undefined) {
    throw new CommandFailure(
      `There is no account with the id ${JSON.stringify(id)}. List them: tollgate accounts list. Or create it: tollgate accounts create ID`,
    );
  }
  return account;
}
