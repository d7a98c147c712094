/** Tests the control socket: who can open it, its path, and that nothing is lost on it. */

import { afterAll, describe, expect, test } from 'bun:test';
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Unavailable } from '../store/ports/store-errors.ts';
import type { ControlAnswer } from './command.ts';
import type { Control } from './control.ts';
import { callControl } from './control-client.ts';
import { serveControl } from './control-server.ts';

const made: string[] = [];
afterAll(() => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true });
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tg-test-'));
  made.push(folder);
  return folder;
}

/** A folder whose path is too long for a socket in it. */
function newDeepFolder(): string {
  const folder = join(newFolder(), 'd'.repeat(120));
  mkdirSync(folder, { mode: 0o700 });
  return folder;
}

const ECHO: Control = { run: async (name, given) => ({ ok: true, result: { name, given: JSON.stringify(given) } }) };

describe('the control socket', () => {
  test('carries a command there and its reply back', async () => {
    const folder = newFolder();
    const server = serveControl(folder, ECHO);
    for (const name of ['keys.list', 'person.reset_link']) {
      expect(await callControl(folder, name, { a: [1, null, '☂'] })).toEqual({
        ok: true,
        result: { name, given: '{"a":[1,null,"☂"]}' },
      });
    }
    expect(server).toMatchObject({ path: join(folder, 'tollgate.sock'), notice: null });
    await server.stop();
  });

  test('can be opened by its owner only, and leaves the umask as it was', async () => {
    const folder = newFolder();
    const before = process.umask();
    const server = serveControl(folder, ECHO);
    expect(lstatSync(server.path).mode & 0o777).toBe(0o600);
    expect(process.umask()).toBe(before);
    await server.stop();
    expect(existsSync(server.path)).toBe(false);
  });

  test('carries many commands at once', async () => {
    const folder = newFolder();
    const server = serveControl(folder, ECHO);
    const replies = await Promise.all(
      Array.from({ length: 200 }, (_, index) => callControl(folder, 'keys.list', index)),
    );
    expect(replies.map((reply) => reply !== 'no-server' && reply.ok && reply.result)).toEqual(
      Array.from({ length: 200 }, (_, index) => ({ name: 'keys.list', given: `${index}` })),
    );
    await server.stop();
  });

  test('a command that throws is answered, and so is the next; an unknown outcome is reported as unknown', async () => {
    const folder = newFolder();
    const full = new Unavailable('full', 'the disk is full');
    const faults = [full, new Error('the writer died')];
    const server = serveControl(folder, { run: () => Promise.reject(faults.shift()) });
    for (const [kind, message] of [
      ['failed', 'the disk is full'],
      ['unknown', 'the writer died'],
    ]) {
      expect(await callControl(folder, 'keys.list', {})).toEqual({ ok: false, kind, message } as ControlAnswer);
    }
    await server.stop();
  });

  test('reports that no server is running', async () => {
    const folder = newFolder();
    expect(await callControl(folder, 'keys.list', {})).toBe('no-server');
    const server = serveControl(folder, ECHO);
    await server.stop();
    expect(await callControl(folder, 'keys.list', {})).toBe('no-server');
  });

  test('the socket of a killed server is detected and replaced', async () => {
    for (const folder of [newFolder(), newDeepFolder()]) {
      const program = `const { serveControl } = await import(${JSON.stringify(join(import.meta.dir, 'control-server.ts'))});
        console.log(serveControl(${JSON.stringify(folder)}, { run: async () => ({ ok: true, result: 1 }) }).path);`;
      const child = Bun.spawn([process.execPath, '-e', program], { stdout: 'pipe' });
      const { value } = await child.stdout.getReader().read();
      const left = new TextDecoder().decode(value).trim();
      expect(await callControl(folder, 'keys.list', {})).toEqual({ ok: true, result: 1 });
      child.kill('SIGKILL');
      await child.exited;
      expect(existsSync(left)).toBe(true);
      expect(await callControl(folder, 'keys.list', {})).toBe('no-server');
      const server = serveControl(folder, ECHO);
      expect(await callControl(folder, 'keys.list', {})).toMatchObject({ ok: true });
      if (server.path !== left) expect(existsSync(dirname(left))).toBe(false);
      await server.stop();
    }
  });

  test('another program on the socket is detected', async () => {
    const folder = newFolder();
    for (const body of ['hello', '{"ok":true}', '{"ok":"yes","result":1}', '']) {
      const server = Bun.serve({ unix: join(folder, 'tollgate.sock'), fetch: () => new Response(body) });
      await expect(callControl(folder, 'keys.list', {})).rejects.toThrow('is not a Tollgate server of this version');
      await server.stop(true);
    }
  });

  test('answers nothing but commands', async () => {
    const folder = newFolder();
    const server = serveControl(folder, ECHO);
    const statusOf = async (path: string, init: RequestInit) =>
      (await fetch(`http://tollgate${path}`, { ...init, unix: server.path })).status;
    expect(await statusOf('/commands/keys.list', { method: 'GET' })).toBe(404);
    expect(await statusOf('/other', { method: 'POST', body: '{}' })).toBe(404);
    expect(await statusOf('/commands/keys.list', { method: 'POST', body: 'x'.repeat(1_048_577) })).toBe(413);
    expect(await callControl(folder, 'keys.list', {})).toMatchObject({ ok: true });
    await server.stop();
  });
});

describe('a data folder with a path too long for a socket', () => {
  test('has its socket in a private folder elsewhere, with a notice', async () => {
    const folder = newDeepFolder();
    const server = serveControl(folder, ECHO);
    expect(server.notice).toContain('is too long for a socket');
    expect(server.path.startsWith(folder)).toBe(false);
    expect(statSync(dirname(server.path)).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, 'tollgate.sock.path')).mode & 0o777).toBe(0o600);
    expect(await callControl(folder, 'keys.list', {})).toMatchObject({ ok: true });
    await server.stop();
    expect(existsSync(dirname(server.path))).toBe(false);
    expect(existsSync(join(folder, 'tollgate.sock.path'))).toBe(false);
  });

  test('is not led to a folder that others can write to', async () => {
    const folder = newDeepFolder();
    const server = serveControl(folder, ECHO);
    const pointer = readFileSync(join(folder, 'tollgate.sock.path'), 'utf8');
    const open = mkdtempSync(join(tmpdir(), 'tollgate-'));
    made.push(open);
    const trap = Bun.serve({
      unix: join(open, 'tollgate.sock'),
      fetch: () => Response.json({ ok: true, result: 'trapped' }),
    });
    Bun.spawnSync(['chmod', '777', open]);
    writeFileSync(join(folder, 'tollgate.sock.path'), join(open, 'tollgate.sock'));
    expect(await callControl(folder, 'keys.list', {})).toBe('no-server');
    writeFileSync(join(folder, 'tollgate.sock.path'), pointer);
    await trap.stop(true);
    await server.stop();
  });
});
