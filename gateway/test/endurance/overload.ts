/** Proves what overload, a million requests and thousands of idle streams cost: goodput, memory, latency. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openFilesMax } from '../../src/lib/open-files.ts';
import { eventually } from '../harness/eventually.ts';
import { pointAt } from '../harness/point-at.ts';
import { startGateway } from '../harness/start-gateway.ts';
import { ask, askMany, askSteadily, type Fate, percentile, type Target } from './ask.ts';
import type { Proven } from './main.ts';
import { MODELS, SILENT_MODEL, startEnduranceUpstream } from './upstream.ts';

const OPEN_CALLS_MAX = 40;
const ANSWER_MS = 200;
/** The requests that this many open calls complete in a second. */
const CAPACITY = (OPEN_CALLS_MAX * 1_000) / ANSWER_MS;
const GOODPUT_MIN = 0.9;

/** Five times the capacity that `open_calls_max` sets: the goodput is at least nine tenths of the peak. */
export async function proveOverload(seconds: number): Promise<Proven> {
  const upstream = startEnduranceUpstream();
  const model = MODELS.plain(ANSWER_MS);
  const limits = { open_calls_max: OPEN_CALLS_MAX };
  const gateway = await startGateway({ config: pointAt(upstream.url, { chat: [model], limits }) });
  const send = () => ask(gateway, model);
  await askSteadily(2, CAPACITY, send);
  const peak = await askMany(CAPACITY * seconds, OPEN_CALLS_MAX, send).then(rateOf(performance.now()));
  const startMs = performance.now();
  const over = await askSteadily(seconds, CAPACITY * 5, send);
  const goodput = (over.of('whole') * 1_000) / (performance.now() - startMs);
  await gateway.stop();
  upstream.stop();
  return {
    words: `peak ${peak.toFixed(0)}/s; at five times the capacity ${goodput.toFixed(0)}/s; ${over}`,
    problems: [
      ...over.others('whole', 'refused'),
      ...(over.of('refused') === 0 ? ['nothing was refused: no overload'] : []),
      ...(goodput < peak * GOODPUT_MIN ? [`goodput ${(goodput / peak).toFixed(2)} of the peak`] : []),
    ],
  };
}

function rateOf(startMs: number): (tally: { of(fate: Fate): number }) => number {
  return (tally) => (tally.of('whole') * 1_000) / (performance.now() - startMs);
}

/** Measurements of memory; the first quarter warms up. */
const MEASUREMENTS = 80;
const MIB = 2 ** 20;

/**
 * Mixed requests: the slope of the resident memory after the first quarter, in MiB per 100,000, which must not be above
 * `mibMax` with its whole interval. The garbage collector makes memory swing by 100 MiB, at rest too: over a million
 * requests the interval is ±9 MiB, over four million ±1.
 */
export async function proveSlope(requests: number, mibMax: number): Promise<Proven> {
  const upstream = startEnduranceUpstream(0.001);
  const [plain, stream] = [MODELS.plain(0), MODELS.silent(0)];
  const gateway = await startGateway({ config: pointAt(upstream.url, { chat: [plain, stream] }) });
  const points: { readonly x: number; readonly y: number }[] = [];
  const each = Math.ceil(requests / MEASUREMENTS);
  const problems: string[] = [];
  for (let turn = 1; turn <= MEASUREMENTS; turn++) {
    const tally = await askMany(each, 32, (index) => {
      if (index % 50 === 49) return ask({ ...gateway, key: 'tg_wrong' }, plain).then(expectStatus(401));
      if (index % 50 === 48) return ask(gateway, 'plain-unknown').then(expectStatus(403));
      return ask(gateway, index % 5 === 0 ? stream : plain);
    });
    problems.push(...tally.others('whole'));
    points.push({ x: (turn * each) / 100_000, y: residentBytes(gateway.pid) / MIB });
  }
  const { slope, width } = slopeOf(points.slice(MEASUREMENTS / 4));
  const measured = `${slope.toFixed(2)} MiB per 100,000 requests (${(slope - width).toFixed(2)} to ${(slope + width).toFixed(2)})`;
  await gateway.stop();
  upstream.stop();
  if (slope - width > mibMax) problems.push(`${measured}, at most ${mibMax}`);
  else if (width > 2 * mibMax) problems.push(`${measured}: the interval is too wide to judge`);
  const seen = points.filter((_, index) => index % (MEASUREMENTS / 8) === 0).map(({ y }) => y.toFixed(0));
  const words = `${requests} requests: ${measured}; resident MiB on the way: ${seen.join(', ')}`;
  return { words, problems };
}

function expectStatus(status: number): (fate: Fate) => Fate {
  return (fate) => (fate.startsWith(`failed: ${status}`) ? 'whole' : `failed: expected ${status}, got ${fate}`);
}

function residentBytes(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
}

/** The slope of the line of least squares, and half the width of its 95 % interval. */
function slopeOf(points: readonly { readonly x: number; readonly y: number }[]): { slope: number; width: number } {
  const sumOf = (of: (point: { readonly x: number; readonly y: number }) => number) =>
    points.reduce((sum, point) => sum + of(point), 0);
  const meanX = sumOf(({ x }) => x) / points.length;
  const meanY = sumOf(({ y }) => y) / points.length;
  const spread = sumOf(({ x }) => (x - meanX) ** 2);
  const slope = sumOf(({ x, y }) => (x - meanX) * (y - meanY)) / spread;
  const left = sumOf(({ x, y }) => (y - meanY - slope * (x - meanX)) ** 2);
  return { slope, width: 1.96 * Math.sqrt(left / (points.length - 2) / spread) };
}

/** The gateway takes two descriptors per stream; from four fifths of its limit on it ends what arrives slowly. */
function streamsWithin(descriptors: number): number {
  return Math.floor((descriptors * 0.8) / 2) - 200;
}

/**
 * Raises the limit of this process, and so of its children, to what the streams need, where the system allows it: as far
 * as the hard limit, and beyond it with the right to (`CAP_SYS_RESOURCE`). Returns the limit that holds.
 */
function provideDescriptors(streams: number): number {
  const needed = Math.ceil(((streams + 200) * 2) / 0.8);
  const limit = () => openFilesMax() ?? Number.POSITIVE_INFINITY;
  for (const limits of [`${needed}:`, `${needed}:${needed}`]) {
    if (limit() >= needed || Bun.which('prlimit') === null) break;
    Bun.spawnSync(['prlimit', '--pid', String(process.pid), `--nofile=${limits}`]);
  }
  return limit();
}

/** The latency that idle streams add to requests at an even rate, at the 99th percentile. */
export async function proveCrowd(
  wanted: number,
  perSecond: number,
  seconds: number,
  addedMsMax: number,
): Promise<Proven> {
  const descriptors = provideDescriptors(wanted);
  const streams = Math.min(wanted, streamsWithin(descriptors));
  const limited = streams < wanted ? ` (ulimit -n is ${descriptors} and cannot be raised: not ${wanted})` : '';
  const upstream = startEnduranceUpstream();
  const plain = MODELS.plain(0);
  const crowd = startCrowd();
  await eventually('the upstream of the crowd', () => (crowd.said().includes('\n') ? true : null), 20_000);
  const config = pointAt(upstream.url, { chat: [plain] }) as { providers: object; models: object };
  const idle = { kind: 'openai-compatible', base_url: `${crowd.said().trim()}/v1`, api_key: 'none' };
  const gateway = await startGateway({
    config: {
      providers: { ...config.providers, idle },
      models: { ...config.models, [SILENT_MODEL]: { targets: [{ provider: 'idle' }], price: 'free' } },
    },
  });
  const measure = async () => {
    const times: number[] = [];
    const tally = await askSteadily(seconds, perSecond, async () => {
      const startMs = performance.now();
      const fate = await ask(gateway, plain);
      times.push(performance.now() - startMs);
      return fate;
    });
    return { p99: percentile(times, 0.99), others: tally.others('whole') };
  };
  await askSteadily(3, perSecond, () => ask(gateway, plain));
  const alone = await measure();
  crowd.open({ url: gateway.url, key: gateway.key, streams });
  const isOpen = await eventually('the crowd', () => crowd.said().includes('open\n') || null, 120_000).catch(
    () => false,
  );
  // Opening the streams is work of its own; what is measured is their presence.
  await askSteadily(3, perSecond, () => ask(gateway, plain));
  const crowded = await measure();
  const ended = crowd.said().split('ended').length - 1;
  crowd.stop();
  await gateway.stop();
  upstream.stop();
  const added = crowded.p99 - alone.p99;
  return {
    words: `p99 alone ${alone.p99.toFixed(1)} ms, beside ${streams} idle streams${limited} ${crowded.p99.toFixed(1)} ms`,
    problems: [
      ...(isOpen ? [] : ['the idle streams were not open within 120 s']),
      ...alone.others,
      ...crowded.others,
      ...(ended > 0 ? [`${ended} idle streams ended`] : []),
      ...(added > addedMsMax ? [`${added.toFixed(1)} ms added at p99, at most ${addedMsMax}`] : []),
    ],
  };
}

/** The process that holds the idle streams. */
function startCrowd() {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'crowd/main.ts')], {
    env: { ...process.env, BUN_CONFIG_MAX_HTTP_REQUESTS: '65535' },
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  });
  let said = '';
  void (async () => {
    for await (const chunk of child.stdout) said += new TextDecoder().decode(chunk);
  })();
  return {
    said: () => said,
    open(order: Target & { readonly streams: number }) {
      child.stdin.write(`${JSON.stringify(order)}\n`);
      child.stdin.flush();
    },
    stop: () => child.kill(),
  };
}
