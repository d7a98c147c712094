/**
 * Measures the console during calls, in a folder that `measure-usage.ts` filled: first the HTTP response time of each
 * route that reads, alone and beside 500 calls per second, then the duration of calls with and without a client that
 * repeatedly requests these routes. Fails where the 95th percentile of a route beside calls is above 200 ms, or a route fails. Run as
 * `bun gateway/scripts/measure-console.ts DIR [rounds] [seconds]`.
 */
import { join } from 'node:path';
import { loadMasterKey } from '../src/store/sqlite/database/master-key.ts';
import { startFakeUpstream } from '../test/fake-upstream/start-fake-upstream.ts';
import { pointAt } from '../test/harness/point-at.ts';
import { startGateway } from '../test/harness/start-gateway.ts';
import { createKey } from '../test/http-contract/make-key.ts';
import { driveCalls } from './measure-console/drive-calls.ts';
import { keepKeys } from './measure-console/keep-keys.ts';
import { quantiles } from './measure-console/quantiles.ts';
import { askNow, routesToAsk } from './measure-console/routes-to-ask.ts';

const ASKED_TIMES = 20;
const CALLS_PER_SECOND = 200;
const CALLS_BESIDE_ROUTES = 500;
const ROUTE_P95_MS_MAX = 200;
/** For the load to begin. */
const WARM_MS = 3_000;
const ACCOUNT = 'default';

const [dataDir, roundsText = '5', secondsText = '10'] = process.argv.slice(2);
if (dataDir === undefined) {
  throw new Error('found no data folder; run as bun gateway/scripts/measure-console.ts DIR [rounds] [seconds]');
}
// Made before there are keys: the gateway starts on no folder that has keys and no master key.
loadMasterKey(dataDir);
keepKeys(dataDir);
const slow: string[] = [];
const fake = await startFakeUpstream();
const gateway = await startGateway({ config: pointAt(fake.url, { chat: ['ok'] }), dataDir });
try {
  const reader = await createKey(gateway, { workspace: 'default', scopes: ['admin', 'usage'] });
  const routes = await routesToAsk(gateway.url, reader.key, ACCOUNT);
  const { key } = await createKey(gateway, { workspace: 'default', scopes: ['inference'] });
  const answered: [name: string, path: string][] = [];
  for (const [name, path] of Object.entries(routes)) {
    if ((await timeRoute(name, path, reader.key)) === null) slow.push(name);
    else answered.push([name, path]);
  }
  const program = join(import.meta.dir, 'measure-console/offer-calls.ts');
  const load = Bun.spawn([process.execPath, program, gateway.url, key, String(CALLS_BESIDE_ROUTES)], {
    stdout: 'inherit',
  });
  try {
    await Bun.sleep(WARM_MS);
    for (const [name, path] of answered) {
      const p95 = await timeRoute(`${name}, beside ${CALLS_BESIDE_ROUTES} calls per second`, path, reader.key);
      if (p95 === null || p95 > ROUTE_P95_MS_MAX) slow.push(name);
    }
  } finally {
    load.kill('SIGTERM');
  }
  if ((await load.exited) !== 0) throw new Error('the calls beside the routes failed');
  await compare(reader.key, key, Object.values(routes));
} finally {
  await gateway.stop(true);
  await fake.stop();
}
if (slow.length > 0) {
  say(`above ${ROUTE_P95_MS_MAX} ms at the 95th percentile, or failed: ${slow.join(', ')}`);
  process.exitCode = 1;
}

/** The 95th percentile in ms; null: the route failed. */
async function timeRoute(name: string, path: string, key: string): Promise<number | null> {
  const tookMs: number[] = [];
  let bytes = 0;
  for (let nth = 0; nth < ASKED_TIMES; nth++) {
    const startMs = performance.now();
    const response = await fetch(`${gateway.url}/app/api${askNow(path)}`, {
      headers: { authorization: `Bearer ${key}` },
    });
    bytes = (await response.arrayBuffer()).byteLength;
    tookMs.push(performance.now() - startMs);
    if (response.status === 200) continue;
    say(`${name}: status ${response.status}`);
    return null;
  }
  const { p50, p95, least } = quantiles(tookMs);
  say(`${name}: p50 ${p50} ms, p95 ${p95} ms, minimum ${least} ms; ${Math.ceil(bytes / 1024)} KiB`);
  return Number(p95);
}

/**
 * Rounds with and without the reader alternate, so that other load on the machine affects both. The reader's process
 * has a low priority: it represents a browser on another machine.
 */
async function compare(readerKey: string, callerKey: string, paths: readonly string[]): Promise<void> {
  const tookMs: Record<string, number[]> = { 'calls alone': [], 'calls beside the console': [] };
  for (let round = 0; round < Number(roundsText); round++) {
    for (const [name, all] of Object.entries(tookMs)) {
      const program = join(import.meta.dir, 'measure-console/ask-again.ts');
      const reader =
        name === 'calls alone'
          ? null
          : Bun.spawn(['nice', '-n', '19', process.execPath, program, gateway.url, readerKey, ...paths], {
              stdout: 'inherit',
            });
      all.push(...(await driveCalls(gateway.url, callerKey, CALLS_PER_SECOND, Number(secondsText) * 1_000)));
      reader?.kill();
      await reader?.exited;
    }
  }
  for (const [name, all] of Object.entries(tookMs)) {
    const { p50, p95, p99, least } = quantiles(all);
    say(
      `${name}, ${CALLS_PER_SECOND} per second: p50 ${p50} ms, p95 ${p95} ms, p99 ${p99} ms, minimum ${least} ms (${all.length} requests)`,
    );
  }
}

function say(words: string): void {
  process.stdout.write(`${words}\n`);
}
