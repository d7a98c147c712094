/** Tests a route's reply to a command that the store did not accept. */
import { expect, test } from 'bun:test';
import { ConsoleFailure } from '../../errors/console-failure.ts';
import { createStoreError, type StoreErrorKind } from '../../store/ports/store-errors.ts';
import { runCommand } from '../policy/policy-parts.ts';

const ASKING = {
  actor: { kind: 'key', id: 'k', name: 'K', account: 'default', workspace: 'default', scopes: ['admin'] },
  address: null,
} as const;

const CASES: readonly (readonly [StoreErrorKind, string, RegExp])[] = [
  ['invalid', 'conflict', /^the words of the store$/],
  ['insufficient_funds', 'conflict', /^the words of the store$/],
  ['full', 'store_unavailable', /nothing was changed/],
  ['unknown', 'store_unavailable', /unknown whether the change was saved: check before you retry/],
];

test.each(CASES)('a store failure %s becomes %s, without claiming more than is known', async (kind, name, words) => {
  const fault = createStoreError(kind, 'the words of the store');
  const running = runCommand({ run: () => Promise.reject(fault) }, ASKING, 'keys.create', {});
  const failure: unknown = await running.catch((thrown: unknown) => thrown);
  expect(failure).toBeInstanceOf(ConsoleFailure);
  expect(failure).toMatchObject({ kind: name, message: expect.stringMatching(words) });
});
