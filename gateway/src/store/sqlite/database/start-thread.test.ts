/**
 * Tests that the process survives while no file descriptor is free for a thread of the store, or the system allows none,
 * and that the thread starts once it can.
 */
import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { runWithFewDescriptors } from '../../../../test/harness/few-descriptors.ts';
import { temporaryFolders } from '../../testing/temporary-folder.ts';
import { createReadingThread } from './reading-thread.ts';

const newFolder = temporaryFolders();
const STORE = join(import.meta.dirname, '..');

/** Parts of the scripts below. */
const PARTS = `
  const outcomeOf = (promise) => promise.then((value) => value ?? 'done', ({ kind }) => kind);
  const program = (path) => Bun.pathToFileURL('${STORE}/' + path);
`;

/** Runs the script, which prints what it finds. */
const run = (script: string) => runWithFewDescriptors(`${PARTS}${script}\nprocess.exit(0);`);

test('a thread that reads the database', () => {
  const ran = run(`
    import { createReadingThread } from '${STORE}/database/reading-thread.ts';
    const thread = createReadingThread(program('testing/echo-reader.ts'));
    fill();
    thread.prepare();
    console.log(...(await Promise.all([outcomeOf(thread.ask('one')), outcomeOf(thread.ask('two'))])));
    free();
    console.log(await outcomeOf(thread.ask('three')));
  `);
  expect(ran).toEqual({ output: 'failed failed\nthree\n', exitCode: 0 });
});

test('a thread with a database of its own', () => {
  const ran = run(`
    import { createContentStore } from '${STORE}/content/content-store.ts';
    import { Secret } from '${STORE}/../../lib/secret.ts';
    const store = createContentStore('${newFolder()}', new Secret('5a'.repeat(32)), () => 1e9);
    const body = { bytes: new Uint8Array(1), totalBytes: 1 };
    const content = { requestId: 'r', account: 'a', workspace: 'w', atMs: 1, protocol: 'chat', status: 200, stream: false };
    const save = () => outcomeOf(store.save({ ...content, request: body, upstreamRequest: 'same', response: null, upstreamResponse: null }));
    fill();
    console.log(await save());
    free();
    console.log(await save());
  `);
  expect(ran).toEqual({ output: 'failed\ndone\n', exitCode: 0 });
});

test('the thread that writes the database, after it died', () => {
  const ran = run(`
    import { startWriter } from '${STORE}/writer/writer.ts';
    let onEvent = () => {};
    const writer = await startWriter({
      path: '${join(newFolder(), 'tollgate.db')}',
      databaseBytesMax: null,
      onChange: (failure) => onEvent(failure),
      program: program('testing/dying-writer.ts'),
    });
    const event = () => new Promise((resolve) => { onEvent = resolve; });
    const write = (id) => outcomeOf(writer.write([{ sql: 'INSERT INTO account (id, created_at_ms) VALUES (?, 1)', parameters: [id], changes: 1 }]));
    const lost = event();
    const dead = write('exit');
    fill();
    console.log(await dead);
    await lost;
    // Longer than until the thread is to start again.
    await Bun.sleep(700);
    console.log(await write('one'), writer.writable());
    const back = event();
    free();
    await back;
    console.log(await write('two'), writer.writable());
  `);
  expect(ran).toEqual({ output: 'unknown\nfailed false\ndone true\n', exitCode: 0 });
});

test('a thread that the system does not allow fails every question, and starts once it is allowed', async () => {
  const { Worker: runtimes } = globalThis;
  globalThis.Worker = class {
    constructor() {
      throw new TypeError('Failed to spawn worker thread');
    }
  } as never;
  const thread = createReadingThread<string, string>(new URL('../testing/echo-reader.ts', import.meta.url));
  const kindOf = (asked: Promise<string>) => asked.catch((fault: { kind?: string }) => fault.kind);
  const kinds = await Promise.all([kindOf(thread.ask('one')), kindOf(thread.ask('two'))]);
  globalThis.Worker = runtimes;
  expect(kinds).toEqual(['failed', 'failed']);
  expect(await thread.ask('three')).toBe('three');
  thread.close();
});
