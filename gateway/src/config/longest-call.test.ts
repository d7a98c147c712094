/** Tests that the longest call of a configuration is the longest that any of its targets allows. */
import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from './load-config.ts';
import { longestCallMs } from './resolve-settings.ts';

const HOUR_MS = 3_600_000;

/** The longest call of a file whose limits, provider and target have these time limits; null: not set. */
function longestOf(limits: string | null, provider: string | null, target: string | null): number {
  const timeouts = (total: string | null) => (total === null ? {} : { timeouts: { total } });
  const cwd = mkdtempSync(join(tmpdir(), 'tollgate-longest-'));
  const file = {
    ...(limits === null ? {} : { limits: { total_timeout: limits } }),
    providers: {
      lab: { kind: 'openai-compatible', base_url: 'http://127.0.0.1:9/v1', api_key: 'none', ...timeouts(provider) },
      demo: { kind: 'demo' },
    },
    models: { m: { targets: [{ provider: 'lab', ...timeouts(target) }] }, n: { targets: [{ provider: 'demo' }] } },
  };
  writeFileSync(join(cwd, 'tollgate.yaml'), JSON.stringify(file));
  const { config, problems } = loadConfig({ environment: {}, cwd });
  rmSync(cwd, { recursive: true });
  if (config === null) throw new Error(JSON.stringify(problems));
  return longestCallMs(config);
}

test.each([
  ['nobody says anything', null, null, null, HOUR_MS],
  ['the limits of all say more', '2h', '1h', null, 2 * HOUR_MS],
  ['a provider takes longer than the others', '1h', '2h', null, 2 * HOUR_MS],
  ['a target takes longer than its provider', '1h', '2h', '3h', 3 * HOUR_MS],
  ['a target takes less than its provider', '1h', '2h', '5m', 2 * HOUR_MS],
])('%s', (_, limits, provider, target, longestMs) => {
  expect(longestOf(limits, provider, target)).toBe(longestMs);
});
