/**
 * Tests commands on keys and workspaces with a running server: each applies to calls within two seconds. Contract 1.
 */
import { beforeAll, describe, expect, test } from 'bun:test';
import { eventually } from '../harness/eventually.ts';
import type { SharedPair } from '../harness/start-pair.ts';
import { goodBody, post } from './calls.ts';
import { shareContractPair } from './contract-config.ts';
import { expectRefusal, invalid } from './expect-refusal.ts';
import { control, createKey, type MadeKey } from './make-key.ts';

const BINDS_MS_MAX = 2_000;

let pair: SharedPair;
beforeAll(async () => {
  pair = await shareContractPair();
});

async function ask(key: string, model = 'ok'): Promise<number> {
  return (await post({ url: pair.gateway.url, key }, 'chat', goodBody('chat', { model }))).status;
}

/** Waits until calls with the key get the status; the contract allows two seconds after the command ends. */
async function untilStatus(key: string, status: number, model = 'ok'): Promise<void> {
  await eventually(`status ${status}`, async () => ((await ask(key, model)) === status ? true : null), BINDS_MS_MAX);
}

/** Runs a command with `--json` that must succeed, and returns its parsed output. */
async function run(...words: string[]): Promise<unknown> {
  const { status, stdout, stderr } = await pair.gateway.run(...words, '--json');
  expect({ words, status, stderr }).toEqual({ words, status: 0, stderr: '' });
  return JSON.parse(stdout);
}

describe('keys', () => {
  test.concurrent('create: served; disable: 401; enable: served; revoke: 401 for good', async () => {
    const { id, key } = (await run('keys', 'create', '--name', 'of a command')) as MadeKey;
    await untilStatus(key, 200);
    await run('keys', 'disable', id);
    await untilStatus(key, 401);
    await run('keys', 'enable', id);
    await untilStatus(key, 200);
    await run('keys', 'revoke', id);
    await untilStatus(key, 401);
    expect(await pair.gateway.run('keys', 'enable', id)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining(id),
    });
    expect(await ask(key)).toBe(401);
  });

  test.concurrent('rotate with grace: both secrets work, then only the new one', async () => {
    const { id, key: old } = await createKey(pair.gateway);
    const rotated = (await run('keys', 'rotate', id, '--grace', '2s')) as MadeKey & { previous_expires_at: string };
    expect(rotated.id).toBe(id);
    expect(rotated.key).not.toBe(old);
    expect(await ask(rotated.key)).toBe(200);
    const graceEndsMs = Date.parse(rotated.previous_expires_at);
    const status = await ask(old);
    // On a slow machine the grace period may have passed already; then there is nothing to check.
    if (Date.now() < graceEndsMs) expect(status).toBe(200);
    await eventually('the old secret to end', async () => ((await ask(old)) === 401 ? true : null), 4_000);
    expect(Date.now()).toBeGreaterThanOrEqual(graceEndsMs);
    expect(await ask(rotated.key)).toBe(200);
  });

  test.concurrent('rotate without grace ends the old secret', async () => {
    const { id, key: old } = await createKey(pair.gateway);
    const { key } = (await control(pair.gateway, 'keys.rotate', { id, grace_ms: 0 })) as MadeKey;
    await untilStatus(old, 401);
    await untilStatus(key, 200);
  });

  test.concurrent('a long grace: both work at the same time', async () => {
    const { id, key: old } = await createKey(pair.gateway);
    const { key } = (await control(pair.gateway, 'keys.rotate', { id, grace_ms: 86_400_000 })) as MadeKey;
    expect([await ask(old), await ask(key)]).toEqual([200, 200]);
    await control(pair.gateway, 'keys.revoke', { id });
    await untilStatus(old, 401);
    await untilStatus(key, 401);
  });

  test.concurrent('set: models, addresses, scopes, expiry', async () => {
    const { id, key } = await createKey(pair.gateway);
    await run('keys', 'set', id, '--models', 'tool,long*');
    await untilStatus(key, 403);
    expect(await ask(key, 'long:20')).toBe(200);
    const set = (changes: object) => control(pair.gateway, 'keys.set', { id, ...changes });
    await set({ models: null });
    await untilStatus(key, 200);
    await set({ ips: ['192.0.2.1'] });
    await untilStatus(key, 403);
    await set({ ips: null });
    await untilStatus(key, 200);
    await set({ scopes: ['usage'] });
    await untilStatus(key, 403);
    await set({ scopes: ['inference'] });
    await untilStatus(key, 200);
    await set({ expires_in_ms: 1 });
    await untilStatus(key, 401);
    await set({ expires_in_ms: null });
    await untilStatus(key, 200);
  });

  test.concurrent('--strict: a dropped member is refused; without it, dropped and named', async () => {
    /** A member without a messages equivalent, sent to a messages upstream. */
    const seeded = (key: string, model = 'm-ok') =>
      post({ url: pair.gateway.url, key }, 'chat', goodBody('chat', { model, seed: 7 }));
    const untilSeeded = (key: string, status: number) =>
      eventually(
        `status ${status}`,
        async () => {
          const response = await seeded(key);
          return response.status === status ? response : null;
        },
        BINDS_MS_MAX,
      );
    const { id, key } = (await run('keys', 'create', '--name', 'strict', '--strict')) as MadeKey;
    await expectRefusal(await untilSeeded(key, 400), 'chat', invalid('chat', 'this API key is strict', 'seed'));
    expect((await seeded(key, 'ok')).status).toBe(200);
    expect(await run('keys', 'set', id, '--strict', 'off')).toMatchObject({ strict: false });
    expect((await untilSeeded(key, 200)).headers.get('x-tollgate-dropped')).toBe('seed');
    expect(await run('keys', 'set', id, '--strict', 'on')).toMatchObject({ strict: true });
    await untilSeeded(key, 400);
  });

  test.concurrent('list names each key and shows no secret', async () => {
    const { id, key } = await createKey(pair.gateway);
    const { status, stdout } = await pair.gateway.run('keys', 'list', '--json');
    expect(status).toBe(0);
    const listed = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { id: string; last4: string });
    expect(listed.find((one) => one.id === id)?.last4).toBe(key.slice(-4));
    expect(stdout).not.toContain(key.slice(3, 20));
    expect(stdout).not.toContain('hash');
  });

  test.concurrent('wrong usage exits with 2, a failure with 1, and neither changes anything', async () => {
    const { id, key } = await createKey(pair.gateway);
    for (const words of [
      ['keys', 'set', id],
      ['keys', 'set', id, '--ip', 'here'],
    ]) {
      expect(await pair.gateway.run(...words)).toMatchObject({
        status: 2,
        stdout: '',
        stderr: expect.stringMatching(/\S/),
      });
    }
    expect(await pair.gateway.run('keys', 'revoke', 'key_none')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('key_none'),
    });
    expect(await ask(key)).toBe(200);
  });
});

describe('workspaces', () => {
  test.concurrent('set --models applies to every key of the workspace', async () => {
    await control(pair.gateway, 'workspaces.create', { id: 'team' });
    const [one, other] = await Promise.all([
      createKey(pair.gateway, { workspace: 'team' }),
      createKey(pair.gateway, { workspace: 'team', models: ['ok', 'tool'] }),
    ]);
    expect([await ask(one.key), await ask(other.key)]).toEqual([200, 200]);
    await run('workspaces', 'set', 'team', '--models', 'tool');
    await untilStatus(one.key, 403);
    await untilStatus(other.key, 403);
    expect(await ask(other.key, 'tool')).toBe(200);
    expect(await ask(pair.gateway.key)).toBe(200);
    await control(pair.gateway, 'workspaces.set', { id: 'team', models: null });
    await untilStatus(one.key, 200);
  });
});
