/**
 * Tests that a server without its master key refuses to start instead of answering valid keys with 401, and how to
 * recover.
 */
import { expect, test } from 'bun:test';
import { copyFileSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { startGateway } from '../harness/start-gateway.ts';

async function statusOf(url: string, key: string): Promise<number> {
  return (await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })).status;
}

test('a folder without its master key, and a restored backup without it, refuse to start; the key put back mends both', async () => {
  const first = await startGateway();
  const { key, dataDir } = first;
  const path = join(dataDir, 'master.key');
  const kept = join(dataDir, '..', 'kept.key');
  const restored = join(dataDir, '..', 'restored');
  expect((await first.run('backup', join(dataDir, '..', 'copy.db'))).status).toBe(0);
  await first.stop(true);
  copyFileSync(path, kept);
  rmSync(path);
  mkdirSync(restored);
  copyFileSync(join(dataDir, '..', 'copy.db'), join(restored, 'tollgate.db'));
  for (const folder of [dataDir, restored]) {
    const refused = await startGateway({ dataDir: folder }).catch(String);
    expect(refused).toContain(`${folder}/master.key is missing`);
    expect(refused).toContain('Put back the master.key of this data folder');
    expect(existsSync(join(folder, 'master.key'))).toBe(false);
    copyFileSync(kept, join(folder, 'master.key'));
    const again = await startGateway({ dataDir: folder });
    expect(await statusOf(again.url, key)).toBe(200);
    await again.stop(folder === dataDir);
  }
  rmSync(join(dataDir, '..'), { recursive: true, force: true });
});

test('a master key that is lost for good is replaced by a command, and keys with new secrets work', async () => {
  const first = await startGateway();
  const { dataDir } = first;
  const running = await first.run('replace-master-key', '--lost');
  expect([running.status, running.stderr]).toEqual([1, expect.stringContaining('Stop it first')]);
  const [listed] = (await first.run('keys', 'list', '--json')).stdout.split('\n');
  const { id } = JSON.parse(listed ?? '') as { readonly id: string };
  await first.stop(true);
  rmSync(join(dataDir, 'master.key'));
  expect((await first.run('replace-master-key')).status).toBe(2);
  const offline = await first.run('keys', 'create', '--name', 'another');
  expect([offline.status, offline.stderr]).toEqual([1, expect.stringContaining('master.key is missing')]);
  const replaced = await first.run('replace-master-key', '--lost');
  expect([replaced.status, replaced.stdout]).toEqual([0, expect.stringContaining('1 API key does not work')]);
  // All that is sealed with the key is named: a hook that cannot be opened refuses requests.
  for (const sealed of ['API key', 'Credentials of providers', 'guardrail hooks', 'alert webhooks', 'Second factors']) {
    expect(replaced.stdout).toContain(sealed);
  }
  const rotated = await first.run('keys', 'rotate', id, '--grace', '0s', '--json');
  const { key } = JSON.parse(rotated.stdout) as { readonly key: string };
  const again = await startGateway({ dataDir });
  expect(await statusOf(again.url, key)).toBe(200);
  await again.stop();
  rmSync(join(dataDir, '..'), { recursive: true, force: true });
});
