/** Tests that a price that passes the file's check is one that the server starts with. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { parsePriceVersion } from '../../billing/price.ts';
import { parsePriceBook } from '../../billing/price-book.ts';
import { loadConfig } from '../load-config.ts';

let cwd = '';
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'tollgate-prices-'));
});
afterAll(() => rmSync(cwd, { recursive: true }));

const number = fc.oneof(
  { arbitrary: fc.constantFrom('0', '0.25', '0.000001', '1000'), weight: 30 },
  { arbitrary: fc.nat({ max: 1_000_000_000 }).map((units) => `${units / 1_000}`), weight: 1 },
  { arbitrary: fc.constantFrom('1000.000001', '1000000', '1000000.000001', '999999999.999999', '1e3'), weight: 1 },
);
const rates = {
  input: number,
  output: number,
  cache_read: fc.option(number, { nil: undefined }),
  cache_write_1h: fc.option(number, { nil: undefined }),
  audio_input: fc.option(number, { nil: undefined }),
};
const tier = fc.record({ above: fc.oneof(fc.nat({ max: 99 }), fc.maxSafeNat()).map(String), ...rates });
const period = fc.record(
  {
    ...rates,
    from: fc.constantFrom('2026-12-01', '2026-12-01T00:00:00Z', '9999-12-31', '0001-01-01', '2027-02-29'),
    tiers: fc.array(tier, { minLength: 1, maxLength: 2 }),
    per_1000_requests: fc.dictionary(fc.constantFrom('web_search', 'search_low', 'x'.repeat(40)), number),
  },
  { requiredKeys: ['input', 'output'] },
);
const price = fc.oneof(period, fc.array(period, { minLength: 1, maxLength: 3 }));

test('every price that the file accepts can be charged and parsed back from its version', () => {
  let taken = 0;
  fc.assert(
    fc.property(price, (written) => {
      const models = { m: { targets: [{ provider: 'd' }], price: written } };
      writeFileSync(join(cwd, 'f.yaml'), JSON.stringify({ providers: { d: { kind: 'demo' } }, models }));
      const { config } = loadConfig({ file: 'f.yaml', environment: {}, cwd });
      const held = config?.models?.get('m')?.price ?? null;
      if (held === null) return;
      taken += 1;
      for (const { price: charged } of parsePriceBook(held, null)) {
        if (charged !== null) expect(parsePriceVersion(charged.version)).toEqual(charged);
      }
    }),
    { numRuns: 300 },
  );
  expect(taken).toBeGreaterThan(20);
});
