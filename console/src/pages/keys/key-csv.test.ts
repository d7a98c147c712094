/** Tests a key's row in a CSV file: amounts to the last nano-dollar, no cell that runs as a formula. */
import { expect, test } from 'bun:test';
import { csvTable } from '../../csv/csv-table.ts';
import type { Key } from './key.ts';
import COLUMNS from './key-csv.ts';

const KEY: Key = {
  id: 'key_1',
  name: '=HYPERLINK("https://example.com")',
  last4: 'x9Qa',
  workspace: 'default',
  owner: null,
  models: ['gpt-5*', 'o4-mini'],
  ips: null,
  scopes: ['inference', 'usage'],
  strict: true,
  tags: { team: 'web', env: 'prod' },
  layer: 'account',
  caps: { rpm: 60, tpm: null, concurrency: 4, budget_usd: '12.50', budget_window: 'day' },
  other_caps: { rpm: 90, tpm: null, concurrency: null, budget_usd: null, budget_window: null },
  status: 'active',
  created_at: '2026-11-01T00:00:00.000Z',
  expires_at: null,
  rotation: null,
  last_used: { at: '2026-11-02T00:00:00.000Z', client: 'openai-python' },
  budget: { used_nano_usd: '12345678901234567890', held_nano_usd: '1', limit_nano_usd: '12500000000' },
  week_nano_usd: ['1', '0', '0', '0', '0', '0', '2000000000'],
  week_requests: [1, 0, 0, 0, 0, 0, 2],
};

test('a key is one row', () => {
  const [heads = '', line] = csvTable(COLUMNS, [KEY]).split('\r\n');
  expect(heads).toBe(
    'id,name,last4,status,workspace,owner,models,ips,scopes,strict,tags,rpm,tpm,concurrency,budget_usd,budget_window,own_rpm,own_tpm,own_concurrency,own_budget_usd,own_budget_window,budget_used_usd,budget_held_usd,created_at,expires_at,last_used_at,last_used_client,week_requests,week_usd',
  );
  expect(line).toBe(
    `key_1,"'=HYPERLINK(""https://example.com"")",x9Qa,active,default,,"gpt-5*, o4-mini",,"inference, usage",true,"env=prod, team=web",90,,,,,60,,4,12.50,day,12345678901.23456789,0.000000001,2026-11-01T00:00:00.000Z,,2026-11-02T00:00:00.000Z,openai-python,3,2.000000001`,
  );
});
