/** Tests open-stored-state.ts: conversations are encrypted, and bound to their workspace, request and master key. */
import { expect, test } from 'bun:test';
import { Secret } from '../../lib/secret.ts';
import type { StateOwner, StoredStateStore } from '../../store/ports/stored-state.ts';
import { openStoredState } from './open-stored-state.ts';

const HERE = { account: 'a', workspace: 'w' };
const CONVERSATION = { input: '{"role":"user","content":"harbor"}', response: '{"id":"resp_1","output":[]}' };

/** A store that gives what was kept last to everyone, so that only the seal protects it. */
function leakyStore(sealed: Uint8Array[]): Omit<StoredStateStore, 'sweep'> {
  return {
    find: async () => [],
    list: async () => [],
    add: async () => undefined,
    addTokens: async () => undefined,
    remove: async () => undefined,
    forget: async () => undefined,
    async keep(_owner: StateOwner, _requestId, bytes) {
      sealed.push(bytes);
      return 'kept';
    },
    readKept: async () => sealed.at(-1) ?? null,
  };
}

const keyOf = (pair: string) => new Secret(pair.repeat(32));

test('a conversation comes back for its workspace and request only', async () => {
  const sealed: Uint8Array[] = [];
  const state = openStoredState(keyOf('5a'), leakyStore(sealed));
  expect(await state.keep(HERE, 'req_1', CONVERSATION, 1)).toBe(true);
  expect(Buffer.from(sealed[0] ?? []).includes('harbor')).toBe(false);
  expect(await state.read(HERE, 'req_1')).toEqual(CONVERSATION);
  expect(await state.read(HERE, 'req_2')).toBeNull();
  expect(await state.read({ ...HERE, workspace: 'v' }, 'req_1')).toBeNull();
  expect(await state.read({ ...HERE, account: 'b' }, 'req_1')).toBeNull();
  expect(await openStoredState(keyOf('5b'), leakyStore(sealed)).read(HERE, 'req_1')).toBeNull();
  const changed = Uint8Array.from(sealed[0] ?? []);
  changed[changed.length - 1] = (changed[changed.length - 1] ?? 0) ^ 1;
  expect(await openStoredState(keyOf('5a'), leakyStore([changed])).read(HERE, 'req_1')).toBeNull();
});

test('a conversation of more than 16 MiB is not kept', async () => {
  const sealed: Uint8Array[] = [];
  const input = 'x'.repeat(16 * 1024 * 1024);
  expect(
    await openStoredState(keyOf('5a'), leakyStore(sealed)).keep(HERE, 'req_1', { ...CONVERSATION, input }, 1),
  ).toBe(false);
  expect(sealed).toEqual([]);
});
