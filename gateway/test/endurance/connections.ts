/** Proves that idle connections that the upstream closes cost no request, and that silence within a stream ends none. */
import { pointAt } from '../harness/point-at.ts';
import { startGateway } from '../harness/start-gateway.ts';
import { ask, askMany } from './ask.ts';
import type { Proven } from './main.ts';
import { MODELS, startEnduranceUpstream } from './upstream.ts';

const CLOSING = 0.05;
const AT_ONCE = 32;

/** Requests against an upstream that closes idle connections at random: all are answered. */
export async function proveIdleCloses(requests: number, seed: number): Promise<Proven> {
  const upstream = startEnduranceUpstream(CLOSING, seed);
  const plain = MODELS.plain(0);
  const stream = MODELS.silent(0);
  const gateway = await startGateway({ config: pointAt(upstream.url, { chat: [plain, stream] }) });
  const tally = await askMany(requests, AT_ONCE, (index) => ask(gateway, index % 10 === 0 ? stream : plain));
  const { closedIdle, closedAtRequest } = upstream.counts;
  await gateway.stop();
  upstream.stop();
  return {
    words: `${tally}; ${closedIdle} connections closed while idle, ${closedAtRequest} as a request arrived`,
    problems: [...tally.others('whole'), ...(closedIdle * closedAtRequest === 0 ? ['no connection was closed'] : [])],
  };
}

/** Streams whose upstream is silent for so long in the middle: all end whole. */
export async function proveSilence(seconds: number): Promise<Proven> {
  const upstream = startEnduranceUpstream();
  const model = MODELS.silent(seconds);
  const gateway = await startGateway({ config: pointAt(upstream.url, { chat: [model] }) });
  const tally = await askMany(8, 8, () => ask(gateway, model));
  await gateway.stop();
  upstream.stop();
  return { words: `${seconds} s of silence: ${tally}`, problems: tally.others('whole') };
}
