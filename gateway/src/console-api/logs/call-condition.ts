/** Converts the filters of a query to a condition on calls. */

import { ConsoleFailure } from '../../errors/console-failure.ts';
import { type CallCondition, NONE } from '../../store/ports/usage.ts';
import type { ReadQuery } from '../contract/contract.ts';
import { PAGE_MS_MAX } from '../usage/usage-parts.ts';

export type CallsQuery = Pick<
  ReadQuery<'GET /accounts/{account}/usage.csv'>,
  'model' | 'provider' | 'key' | 'member' | 'workspace' | 'end_user' | 'session' | 'protocol' | 'without'
>;

export const EVERY_CALL: CallCondition = {
  model: null,
  provider: null,
  keys: null,
  workspace: null,
  end_user: null,
  session: null,
  protocol: null,
};

/** Reads all calls, newest first. */
export const EVERY_LOG = {
  condition: EVERY_CALL,
  outcome: null,
  fromMs: null,
  toMs: null,
  idPrefix: null,
  beforeId: null,
  withHistogram: false,
  timeMsMax: PAGE_MS_MAX,
} as const;

/** Whether `conditionOf` needs to know who owns which key. */
export function asksMember({ member, without }: CallsQuery): boolean {
  return member !== undefined || (without?.includes('member') ?? false);
}

/**
 * `owners`: key → member. A member matches the keys that they created; `without` member matches keys that no member of
 * the account created.
 * @throws ConsoleFailure where a filter has a value and is also in `without`.
 */
export function conditionOf(requested: CallsQuery, owners: ReadonlyMap<string, string>): CallCondition {
  const { without = [] } = requested;
  for (const name of without) {
    if (requested[name] === undefined) continue;
    throw new ConsoleFailure(
      'invalid',
      `without: found ${name} together with ${name}=${requested[name]}; expected one of them`,
      { member: 'without' },
    );
  }
  const filterOf = (name: Exclude<(typeof without)[number], 'member'>) =>
    without.includes(name) ? NONE : (requested[name] ?? null);
  return {
    model: filterOf('model'),
    provider: filterOf('provider'),
    keys: keysOf(requested, owners),
    workspace: requested.workspace ?? null,
    end_user: filterOf('end_user'),
    session: filterOf('session'),
    protocol: requested.protocol ?? null,
  };
}

function keysOf({ key, member, without }: CallsQuery, owners: ReadonlyMap<string, string>): CallCondition['keys'] {
  if (without?.includes('member')) {
    if (key === undefined) return { except: [...owners.keys()] };
    return owners.has(key) ? [] : [key];
  }
  if (member === undefined) return key === undefined ? null : [key];
  const owned = [...owners].filter(([, owner]) => owner === member).map(([owned]) => owned);
  if (key === undefined) return owned;
  return owned.includes(key) ? [key] : [];
}
