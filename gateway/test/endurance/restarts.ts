/** Proves that stops and restarts cut no stream, and how soon the next process serves. */
import { pointAt } from '../harness/point-at.ts';
import { type RunningGateway, startGateway } from '../harness/start-gateway.ts';
import { ask, type Fate, Tally } from './ask.ts';
import type { Proven } from './main.ts';
import { type EnduranceUpstream, MODELS, startEnduranceUpstream } from './upstream.ts';

/** One SIGTERM under this many streams, whose lengths are spread between the two: all end whole. */
export async function proveDrain(streams: number, leastSeconds: number, mostSeconds: number): Promise<Proven> {
  const upstream = startEnduranceUpstream();
  const lengths = Array.from({ length: streams }, (_, index) =>
    Math.round(leastSeconds + ((mostSeconds - leastSeconds) * index) / Math.max(1, streams - 1)),
  );
  const names = [...new Set(lengths)].map(MODELS.steady);
  const gateway = await startGateway({ config: pointAt(upstream.url, { chat: names, limits: { drain: '1s' } }) });
  const tally = new Tally();
  const running = lengths.map((seconds) => ask(gateway, MODELS.steady(seconds)).then((fate) => tally.note(fate)));
  while (upstream.counts.requests < streams) await Bun.sleep(20);
  gateway.signal('SIGTERM');
  await Promise.all(running);
  const status = await gateway.exited;
  await gateway.stop();
  upstream.stop();
  return {
    words: `SIGTERM under ${streams} streams of ${leastSeconds} to ${mostSeconds} s: ${tally}; exit ${status}`,
    problems: [...tally.others('whole'), ...(status === 0 ? [] : [`exit status ${status}`])],
  };
}

const CLIENTS = 20;
const STREAM_SECONDS = 2;

/**
 * Restarts on the same folder and port under streams that begin all the time: none is cut. `gapMsMax`: from the end of a
 * process to the next one's readiness.
 */
export async function proveRestarts(restarts: number, gapMsMax: number): Promise<Proven> {
  const upstream = startEnduranceUpstream();
  const config = configOf(upstream);
  const first = await startGateway({ config });
  const port = Number(new URL(first.url).port);
  const { key, dataDir } = first;
  const tally = new Tally();
  let isOver = false;
  const clients = Array.from({ length: CLIENTS }, async () => {
    while (!isOver) {
      const fate = await ask({ url: first.url, key }, MODELS.steady(STREAM_SECONDS));
      tally.note(fate);
      if (fate === 'refused') await Bun.sleep(100);
    }
  });
  const gaps: number[] = [];
  let present: RunningGateway = first;
  for (let turn = 0; turn < restarts; turn++) {
    await Bun.sleep(1_500);
    present.signal('SIGTERM');
    await present.exited;
    const endMs = performance.now();
    present = await startGateway({ config, dataDir, port });
    while ((await fetch(`${present.url}/readyz`)).status !== 200) await Bun.sleep(5);
    gaps.push(Math.round(performance.now() - endMs));
  }
  await Bun.sleep(500);
  isOver = true;
  await Promise.all(clients);
  await present.stop();
  await first.stop();
  upstream.stop();
  // A client cannot tell a refused connection from a request that was lost before its status; the upstream can.
  const lost = upstream.counts.requests - tally.of('whole');
  const slow = gaps.filter((gap) => gap > gapMsMax);
  return {
    words: `${restarts} restarts: ${tally}; ready after ${gaps.join(', ')} ms`,
    problems: [
      ...tally.others('whole', 'refused' satisfies Fate),
      ...(lost === 0 ? [] : [`${lost} requests reached the upstream and did not end whole`]),
      ...slow.map((gap) => `ready only after ${gap} ms`),
      ...(tally.of('whole') < restarts ? ['hardly a stream was open'] : []),
    ],
  };
}

function configOf(upstream: EnduranceUpstream): object {
  return pointAt(upstream.url, { chat: [MODELS.steady(STREAM_SECONDS)], limits: { drain: '300ms' } });
}
