/** Tests the migration from LiteLLM from its files to answered requests: the old keys, their limits and their spend. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { runProgramAt } from '../../src/cli/testing/run-program.ts';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/start-fake-upstream.ts';
import { type RunningGateway, startGateway } from '../harness/start-gateway.ts';
import { control } from '../http-contract/make-key.ts';
import {
  BLOCKED,
  EXPIRED,
  KEYS,
  MODELS,
  NARROW,
  OF_SPENT_TEAM,
  OVER_BUDGET,
  SPENT,
  UNPRICED,
  writeConfig,
  writeExport,
} from './litellm-export.ts';

const report = z.object({
  dry_run: z.boolean(),
  file: z.object({ outcome: z.string(), providers: z.number(), models: z.number() }),
  objects: z.array(z.object({ kind: z.string(), name: z.string(), id: z.string(), outcome: z.string() })),
  notes: z.array(z.object({ kind: z.string(), what: z.string(), why: z.string(), names: z.array(z.string()) })),
});

const listed = z.object({
  keys: z.array(z.object({ name: z.string(), budget: z.object({ used_nano_usd: z.string() }).nullable() })),
});

/** Nothing listens on the discard port of a test machine. */
const DEAD_URL = 'http://127.0.0.1:9';
const folder = mkdtempSync(join(tmpdir(), 'tollgate-migration-'));
const dataDir = join(folder, 'data');
const startMs = Date.now();
const out = join(folder, 'tollgate.yaml');
let fake: FakeUpstream;
let gateway: RunningGateway;
let config: string;
let exported: string;

async function migrate(source: string, ...flags: string[]) {
  const words = ['migrate-from', 'litellm', '--config', config, '--export', source, '--out', out, '--json', ...flags];
  const { exitCode, stdout, stderr } = await runProgramAt(Date.now, dataDir, words);
  expect([exitCode, stderr.replace(/^Created the data folder.*\n|.*master key.*\n/g, '')]).toEqual([0, '']);
  return report.parse(JSON.parse(stdout));
}

function outcomes({ objects }: z.output<typeof report>): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { kind, outcome } of objects) counts[`${kind} ${outcome}`] = (counts[`${kind} ${outcome}`] ?? 0) + 1;
  return counts;
}

async function ask(key: string, model: string): Promise<number> {
  const response = await fetch(`${gateway.url}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hello' }] }),
  });
  const body = await response.text();
  if (response.status >= 500) throw new Error(body);
  return response.status;
}

const keyOf = (n: number): string => KEYS[n]?.text ?? '';

beforeAll(async () => {
  fake = await startFakeUpstream();
  config = writeConfig(folder, fake.url, DEAD_URL);
  exported = writeExport(folder, startMs);
});
afterAll(async () => {
  await gateway?.stop(true);
  await fake?.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe('a migration from LiteLLM', () => {
  test('a dry run says everything and changes nothing', async () => {
    const dry = await migrate(exported, '--dry-run');
    expect(dry).toMatchObject({ dry_run: true, file: { outcome: 'written', models: 20 } });
    expect(outcomes(dry)).toEqual({ 'account created': 1, 'workspace created': 4, 'key created': 100 });
    expect(outcomes(await migrate(exported, '--dry-run'))).toEqual(outcomes(dry));
  });

  test('imports everything once, and a second run changes nothing', async () => {
    const first = await migrate(exported);
    expect(outcomes(first)).toEqual({ 'account created': 1, 'workspace created': 4, 'key created': 100 });
    const before = readFileSync(out, 'utf8');
    const second = await migrate(exported);
    expect(second.file.outcome).toBe('unchanged');
    expect(outcomes(second)).toEqual({ 'account unchanged': 1, 'workspace unchanged': 4, 'key unchanged': 100 });
    expect(readFileSync(out, 'utf8')).toBe(before);
    expect(before).not.toContain('sk-');
  });

  test('names everything that does not carry over, and why', async () => {
    const { notes } = await migrate(exported, '--dry-run');
    const whys = new Map(notes.map(({ what, why, names }) => [what, { why, names }]));
    for (const what of [
      'model_list: a pattern',
      'model_list: a deployment',
      'litellm_settings.success_callback',
      'litellm_settings.surprising_setting',
      'general_settings.master_key',
      'general_settings.database_url',
      'LiteLLM_SpendLogs (history)',
      'LiteLLM_MCPServerTable (1 rows)',
      'LiteLLM_TeamTable.members_with_roles',
      'LiteLLM_UserTable.user_email',
      'LiteLLM_VerificationToken.metadata',
      'LiteLLM_VerificationToken.brand_new_column',
      'litellm_params.rpm',
      'models without a price',
    ]) {
      expect([what, whys.get(what)?.why.length ?? 0]).toEqual([what, expect.any(Number)]);
      expect(whys.get(what)?.why ?? '').not.toBe('');
    }
    expect(whys.get('models without a price')?.names).toEqual([expect.stringContaining(UNPRICED)]);
    expect(whys.get('LiteLLM_VerificationToken.metadata')?.names).toEqual(['key 60']);
    expect(whys.get('model_list: a deployment')?.names).toEqual(['exotic (sagemaker/my-endpoint)']);
  });

  test('the same requests with the old keys are answered, by fallbacks where the first target is dead', async () => {
    const parsed: unknown = Bun.YAML.parse(readFileSync(out, 'utf8'));
    gateway = await startGateway({ dataDir, config: parsed as object, environment: { FAKE_KEY: 'upstream-key' } });
    const expected = (n: number) => {
      if (n === BLOCKED || n === EXPIRED) return 401;
      if (n === NARROW) return 403;
      return [SPENT, OF_SPENT_TEAM, OVER_BUDGET].includes(n) ? 429 : 200;
    };
    const statuses: (readonly [number, number])[] = [];
    for (let n = 0; n < KEYS.length; n++) {
      const model = MODELS[n % MODELS.length] ?? '';
      statuses.push([n, await ask(keyOf(n), n === NARROW ? 'model-2' : model)]);
    }
    expect(statuses).toEqual(KEYS.map((_, n) => [n, expected(n)] as const));
    expect(await ask(keyOf(NARROW), 'model-1')).toBe(200);
    expect(await ask(keyOf(1), 'smallest')).toBe(200);
    expect(await ask('sk-nobody', 'model-1')).toBe(401);
    expect(await ask(`${keyOf(1)}x`, 'model-1')).toBe(401);
  }, 60_000);

  test('the spend counts in budgets, and a new export adds only what came since', async () => {
    const admin = z.object({ key: z.string() });
    const { key } = admin.parse(
      await control(gateway, 'keys.create', { name: 'admin', workspace: 'red', scopes: ['admin'] }),
    );
    const usedBy = async (name: string): Promise<string> => {
      const url = `${gateway.url}/app/api/accounts/acme-inc/keys`;
      const response = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
      const { keys } = listed.parse(await response.json());
      return keys.find((each) => each.name === name)?.budget?.used_nano_usd ?? 'none';
    };
    expect([await usedBy(`key ${SPENT}`), await usedBy(`key ${OVER_BUDGET}`)]).toEqual(['2000000000', '1250000000']);
    const later = writeExport(folder, startMs, 1.75);
    const updated = await migrate(later);
    expect(outcomes(updated)).toEqual({
      'account unchanged': 1,
      'workspace unchanged': 4,
      'key spend_updated': 99,
      'key unchanged': 1,
    });
    expect(await usedBy(`key ${OVER_BUDGET}`)).toBe('1750000000');
    // The budget of 1 USD of the key was used up before and after.
    expect(await ask(keyOf(OVER_BUDGET), 'model-1')).toBe(429);
    expect(outcomes(await migrate(later))).toEqual({
      'account unchanged': 1,
      'workspace unchanged': 4,
      'key unchanged': 100,
    });
  });

  test('rotation and revocation work as for other keys, and no later run brings a secret back', async () => {
    const { objects } = await migrate(exported, '--dry-run');
    const idOf = (n: number) => objects.find(({ kind, name }) => kind === 'key' && name === `key ${n}`)?.id ?? '';
    const rotated = z.object({ key: z.string(), last4: z.string() });
    const first = rotated.parse(await control(gateway, 'keys.rotate', { id: idOf(2), grace_ms: 60_000 }));
    expect([await ask(keyOf(2), 'model-1'), await ask(first.key, 'model-1')]).toEqual([200, 200]);
    await control(gateway, 'keys.rotate', { id: idOf(2), grace_ms: 60_000 });
    await control(gateway, 'keys.revoke', { id: idOf(3) });
    expect([await ask(keyOf(2), 'model-1'), await ask(keyOf(3), 'model-1')]).toEqual([401, 401]);
    await migrate(exported);
    expect([await ask(keyOf(2), 'model-1'), await ask(keyOf(3), 'model-1')]).toEqual([401, 401]);
  });
});
