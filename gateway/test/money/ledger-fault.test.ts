/** Tests that a fault of the ledger's own data is answered as a fault of the gateway, never as a lack of quota. */
import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { databasePath } from '../../src/store/sqlite/database/connection.ts';
import { eventually } from '../harness/eventually.ts';
import { type Pair, startPair } from '../harness/start-pair.ts';
import { moneyConfig, newCustomer } from './money-rig.ts';

let pair: Pair;
beforeAll(async () => {
  pair = await startPair((url) => moneyConfig(url, { ok: { host: 'chat', price: { input: 1, output: 5 } } }));
}, 30_000);
afterAll(() => pair.stop());

async function call(key: string, stream: boolean) {
  const response = await fetch(`${pair.gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'ok', stream, max_tokens: 20, messages: [{ role: 'user', content: 'Hello.' }] }),
  });
  return { status: response.status, text: await response.text() };
}

test.each([false, true])(
  'a hold of an account that the ledger does not know is a 500, streamed: %p',
  async (stream) => {
    const [lost, other] = [await newCustomer(pair.gateway), await newCustomer(pair.gateway)];
    const database = new Database(databasePath(pair.gateway.dataDir));
    database.run('PRAGMA busy_timeout = 5000');
    database.run('DELETE FROM account WHERE id = ?', [lost.account]);
    database.close();
    const { status, text } = await call(lost.key, stream);
    expect([status, text]).toEqual([500, expect.stringContaining('the gateway failed; this is not your fault')]);
    const record = await eventually('the record', async () => (await pair.gateway.calls('--key', lost.keyId))[0]);
    expect(record).toMatchObject({ status: 500, error: 'gateway_fault', cost_nano_usd: '0' });
    expect(pair.gateway.stderr() + pair.gateway.stdout()).toContain('the ledger refused the hold');
    expect((await call(other.key, stream)).status).toBe(200);
  },
);
