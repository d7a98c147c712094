/** Tests that a failure to load the sign-in library does not last. */
import { expect, test } from 'bun:test';
import { Secret } from '../../lib/secret.ts';
import { openStore } from '../../store/sqlite/open-store.ts';
import { temporaryFolders } from '../../store/testing/temporary-folder.ts';
import { createAuthEngines } from './auth-engines.ts';

const folder = temporaryFolders();

test('the engine for passwords is made again after a failure, and then kept', async () => {
  const store = await openStore({ dataDir: folder() });
  let isFailing = true;
  const engines = createAuthEngines({
    people: store.people,
    secret: new Secret('ab'.repeat(32)),
    services: () => [],
    publicUrl() {
      if (isFailing) throw new Error('EMFILE: too many open files');
      return 'http://gw.test';
    },
    nowMs: Date.now,
    onRejected: () => undefined,
  });
  await expect(engines.own()).rejects.toThrow('EMFILE');
  isFailing = false;
  const engine = await engines.own();
  expect(await engines.own()).toBe(engine);
  await store.close();
});
