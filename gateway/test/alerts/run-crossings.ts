/**
 * Lets keys cross their budgets on a gateway that is killed with -9 again and again, and judges what its receivers got:
 * each crossing at least once, under one delivery id, also where its window ended while the gateway was stopped.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { databasePath, openReadConnection } from '../../src/store/sqlite/database/connection.ts';
import { startChances } from '../crash/start-chances.ts';
import { startFakeUpstream } from '../fake-upstream/start-fake-upstream.ts';
import { eventually } from '../harness/eventually.ts';
import { pointAt } from '../harness/point-at.ts';
import { type RunningGateway, startGateway } from '../harness/start-gateway.ts';
import { control, createKey } from '../http-contract/make-key.ts';
import { startDeadReceiver, startReceiver } from './receiver.ts';

export interface CrossingPlan {
  readonly crossings: number;
  /** At most one for each crossing. */
  readonly kills: number;
  readonly seed: number;
}

export interface CrossingTally {
  readonly crossings: number;
  readonly kills: number;
  /** Deliveries that arrived more than once, under the same id. */
  readonly repeated: number;
  /** Crossings whose window ended while the gateway was stopped. */
  readonly endedWindows: number;
  readonly slowestRequestMs: number;
  readonly secondsToDeliver: number;
  readonly deadConnections: number;
}

const MODEL = 'alerts-load';
const DAY_MS = 86_400_000;
/** One request costs more than half of it. */
const BUDGET_USD = '0.0001';
const REFUSES_EACH = 7;
/** How often the gateway evaluates. */
const TICK_MS = 500;
const DELIVERED_WITHIN_MS = 120_000;

/** Throws an Error with the problems as sentences. */
export async function runCrossings({ crossings, kills, seed }: CrossingPlan): Promise<CrossingTally> {
  const chances = startChances(seed);
  const home = mkdtempSync(join(tmpdir(), 'tollgate-alerts-'));
  const dataDir = join(home, 'data');
  const fake = await startFakeUpstream();
  const [alive, dead] = [startReceiver(REFUSES_EACH), startDeadReceiver()];
  fake.script(MODEL, { answer: 'long:8' });
  const config = pointAt(fake.url, { chat: [MODEL], server: { private_origins: [alive.url, dead.url] } });
  const keys: string[] = [];
  // Ids of requests have the true time, and no request is older than its id.
  let shiftMs = -kills * DAY_MS;
  let endedWindows = 0;
  let slowestRequestMs = 0;
  const start = () =>
    startGateway({
      config,
      dataDir,
      environment: {
        BUN_OPTIONS: `--preload=${join(import.meta.dir, 'shifted-clock.ts')}`,
        TOLLGATE_TEST_CLOCK_SHIFT_MS: `${shiftMs}`,
        TOLLGATE_TEST_TICK_MS: `${TICK_MS}`,
      },
    });
  let gateway = await start();
  try {
    for (const [name, { url }] of Object.entries({ alive, dead }))
      await control(gateway, 'alerts.create', { name, event: 'budget', threshold: '50', channel: 'webhook', url });
    for (let round = 0; round < kills; round += 1) {
      const upTo = Math.floor((crossings * (round + 1)) / kills);
      const share = upTo - keys.length;
      while (keys.length < upTo) {
        const name = `key-${keys.length}`;
        const { key } = await createKey(gateway, { name, budget_usd: BUDGET_USD, budget_window: 'day' });
        keys.push(name);
        slowestRequestMs = Math.max(slowestRequestMs, await cross(gateway, key));
      }
      // The receiver has a delivery, and the store has no confirmation of it.
      const isKilledAtDelivery = chances.whole(0, 1) === 0;
      if (isKilledAtDelivery) {
        const dying = gateway;
        alive.onArrival(chances.whole(1, share), () => dying.signal('SIGKILL'));
        // Most of them may have been delivered before.
        await Promise.race([gateway.exited, Bun.sleep(TICK_MS + 1_000)]);
      }
      gateway.signal('SIGKILL');
      await gateway.exited;
      await gateway.stop();
      if (!isKilledAtDelivery && chances.whole(0, 1) === 0) {
        shiftMs += DAY_MS;
        endedWindows += share;
      }
      gateway = await start();
    }
    const fromMs = performance.now();
    const textOf = (name: string) => new RegExp(`of key ${name} `);
    const arrived = () => keys.filter((name) => alive.seen.values().some(({ text }) => textOf(name).test(text)));
    await eventually(
      'all crossings to arrive',
      () => arrived().length === keys.length || null,
      DELIVERED_WITHIN_MS,
    ).catch(() => undefined);
    const secondsToDeliver = (performance.now() - fromMs) / 1_000;
    const problems = judge(keys, alive.seen, await readRows(dataDir, keys.length));
    if (problems.length > 0) throw new Error(problems.slice(0, 20).join('\n'));
    return {
      crossings: keys.length,
      kills,
      repeated: alive.seen
        .values()
        .filter(({ times }) => times > 1)
        .toArray().length,
      endedWindows,
      slowestRequestMs,
      secondsToDeliver,
      deadConnections: dead.connections(),
    };
  } finally {
    gateway.signal('SIGKILL');
    await gateway.exited;
    await gateway.stop();
    alive.stop();
    dead.stop();
    await fake.stop();
    rmSync(home, { recursive: true, force: true });
  }
}

/** One request passes half of the key's budget. Resolves with its duration. */
async function cross({ url }: RunningGateway, key: string): Promise<number> {
  return eventually('an answer', async () => {
    const fromMs = performance.now();
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      keepalive: false,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: MODEL, max_tokens: 8, messages: [{ role: 'user', content: 'Count.' }] }),
    });
    const text = await response.text();
    // On a busy machine the spend of a new budget may take longer to read than a request may wait.
    if (response.status === 503) return null;
    if (!response.ok) throw new Error(`a request was answered with ${response.status}: ${text}`);
    return performance.now() - fromMs;
  });
}

interface Rows {
  readonly rule: string;
  readonly status: string;
  readonly count: number;
}

async function readRows(dataDir: string, crossings: number): Promise<readonly Rows[]> {
  const database = openReadConnection(databasePath(dataDir));
  const read = () =>
    database
      .query<Rows, []>(
        `SELECT alert_rule.name AS rule, status, count(*) AS count
          FROM alert_delivery JOIN alert_rule ON alert_rule.id = rule GROUP BY 1, 2`,
      )
      .all();
  try {
    // The receiver has them before the store knows it.
    const isSaved = () =>
      read().some((row) => row.rule === 'alive' && row.status === 'delivered' && row.count === crossings);
    await eventually('confirmed deliveries', () => isSaved() || null, 30_000).catch(() => undefined);
    return read();
  } finally {
    database.close();
  }
}

function judge(
  keys: readonly string[],
  seen: ReadonlyMap<string, { readonly text: string }>,
  rows: readonly Rows[],
): string[] {
  const ids = new Map<string, number>();
  for (const { text } of seen.values()) {
    const name = /of key (\S+) /.exec(text)?.[1] ?? text;
    ids.set(name, (ids.get(name) ?? 0) + 1);
  }
  const problems = keys.flatMap((name) => {
    const count = ids.get(name) ?? 0;
    return count === 1 ? [] : [`the crossing of ${name} arrived under ${count} delivery ids, expected 1`];
  });
  if (ids.size !== keys.length) problems.push(`${ids.size} crossings arrived of ${keys.length}`);
  // Days pass in this test, and deliveries that fail for a day are given up.
  const expected = { alive: ['delivered'], dead: ['pending', 'failed'] };
  for (const [rule, statuses] of Object.entries(expected)) {
    const found = rows.filter((row) => row.rule === rule && statuses.includes(row.status));
    const count = found.reduce((sum, row) => sum + row.count, 0);
    if (count !== keys.length)
      problems.push(`rule ${rule}: ${count} ${statuses.join(' or ')}, expected ${keys.length}`);
  }
  return problems;
}
