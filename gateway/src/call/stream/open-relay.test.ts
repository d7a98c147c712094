/** Tests when the client gets something of an attempt's stream, how streams end, and that violations are counted by format. */
import { expect, test } from 'bun:test';
import { startCpuClock } from '../../../test/harness/cpu-clock.ts';
import { loadConfig } from '../../config/load-config.ts';
import { UNWATCHED } from '../../lib/deadlines.ts';
import { OpenSet } from '../../lib/open-set.ts';
import { chatUpstream } from '../../protocols/chat/upstream/upstream-protocol.ts';
import type { ClientProtocolName, UpstreamProtocolName } from '../../protocols/names.ts';
import { CLIENT_PROTOCOLS, UPSTREAM_PROTOCOLS } from '../../protocols/registry.ts';
import { RoutingState } from '../../routing/health/routing-state.ts';
import type { ResponseHead } from '../../upstream/response-head.ts';
import { AttemptRow, type Held, setMoney } from '../call.ts';
import type { Interruptible } from '../deps.ts';
import type { BillingDeps } from '../money/billing-deps.ts';
import { LimitProofs } from '../money/limit-proofs.ts';
import { TokenRatio, UsageAnomalyLog } from '../money/usage-checks.ts';
import { holdMoney } from '../testing/held-money.ts';
import { routedCall } from '../testing/routed-call.ts';
import type { ClientStream } from './client-stream.ts';
import { CallStream, countViolations } from './open-relay.ts';
import type { StreamRelay } from './stream-relay.ts';

const { config } = loadConfig({ environment: {}, cwd: '/nowhere' });

function depsOf() {
  if (config === null) throw new Error('the defaults must load');
  const log = { fault: () => undefined, alarm: () => undefined, unpriced: () => undefined, upstream: () => undefined };
  const recorder = { append: () => Promise.resolve(), writable: () => true };
  const protocolViolations = {
    received: noneOf<UpstreamProtocolName>(UPSTREAM_PROTOCOLS),
    withheld: noneOf<ClientProtocolName>(CLIENT_PROTOCOLS),
  };
  const billing = {
    ratio: new TokenRatio(),
    limitProofs: new LimitProofs(() => undefined),
    usageAnomalies: new UsageAnomalyLog(() => undefined),
  } as Partial<BillingDeps> as BillingDeps;
  const settings = { config, routes: new Map() };
  const openCalls = new OpenSet<Interruptible>();
  return { settings, openCalls, recorder, log, protocolViolations, billing, routing: new RoutingState() };
}

function noneOf<Name extends string>(halves: object) {
  return Object.fromEntries(Object.keys(halves).map((name) => [name, 0])) as { [name in Name]: number };
}

/** A streamed call in the chat format whose money is held. */
async function heldCall(deps: ReturnType<typeof depsOf>): Promise<Held> {
  const call = routedCall({ facts: { stream: true } }, deps);
  setMoney(call, (await holdMoney({ cap: 1_000_000n })).money);
  return call;
}

interface OpenedStream {
  readonly client: ClientStream;
  readonly relay: StreamRelay;
  /** What the attempts of the call were told. */
  readonly told: string[];
}

async function streamOf(deps: ReturnType<typeof depsOf>): Promise<OpenedStream> {
  const call = await heldCall(deps);
  const told: string[] = [];
  const stream = new CallStream(call, {
    onCommitted: () => told.push('committed'),
    onGivenUp: ({ kind }) => told.push(kind),
    onClosed: () => told.push('closed'),
  });
  const observer = chatUpstream.passThrough.startObserver({ withholdUsage: false, fallbackId: 'chatcmpl-0' });
  const attempt = { upstream: chatUpstream, observer, row: new AttemptRow(call) };
  const { relay } = stream.openRelay(attempt, {
    onHead: () => told.push('head'),
    onBegun: () => told.push('begun'),
    onEnough: () => undefined,
    onAnswer: ({ head: { status } }) => told.push(`HTTP ${status}`),
    onAnswerFailed: ({ kind }) => told.push(kind),
  });
  return { client: stream.client, relay, told };
}

function head(status: number, type: string): ResponseHead {
  return { status, headers: [['content-type', type]], framing: 'close', lengthBytes: 0, keepAlive: false };
}

function chunk(choice: object): Buffer {
  return Buffer.from(`data: ${JSON.stringify({ id: 'a', choices: [{ index: 0, ...choice }] })}\n\n`);
}

test('an error body is an outcome of the attempt: the client has nothing yet', async () => {
  const { client, relay, told } = await streamOf(depsOf());
  relay.onHead(head(400, 'application/json'));
  relay.onBody(Buffer.from('{"error":{"message":"no"}}'));
  relay.onEnd();
  expect([client.committed, told]).toEqual([false, ['head', 'HTTP 400']]);
  client.discard();
});

test('a transport fault before the first event is an outcome of the attempt', async () => {
  const { client, relay, told } = await streamOf(depsOf());
  relay.onFailure({ kind: 'reset', message: 'gone', sent: true, stale: false });
  expect([client.committed, told]).toEqual([false, ['upstream_failed']]);
  client.discard();
  expect(client.slot).toBe(UNWATCHED);
});

test('opening records wait for the first content', async () => {
  const { client, relay, told } = await streamOf(depsOf());
  relay.onHead(head(200, 'text/event-stream'));
  const opening = chunk({ delta: { role: 'assistant', content: '' } });
  relay.onBody(opening);
  expect([client.committed, told]).toEqual([false, ['head']]);
  const content = chunk({ delta: { content: 'hi' }, finish_reason: 'stop' });
  relay.onBody(content);
  expect([client.begun, told]).toEqual([true, ['head', 'begun', 'committed']]);
  relay.onBody(Buffer.from('data: [DONE]\n\n'));
  relay.onEnd();
  await client.ended;
  expect(String(client.body())).toBe(`${opening}${content}data: [DONE]\n\n`);
});

test('80,000 comments before the first content take time linear in their number', async () => {
  const { client, relay } = await streamOf(depsOf());
  relay.onHead(head(200, 'text/event-stream'));
  const elapsed = startCpuClock();
  const opening = ':\n\n'.repeat(80_000);
  relay.onBody(Buffer.from(opening));
  expect(elapsed()).toBeLessThan(500);
  const content = chunk({ delta: { content: 'hi' }, finish_reason: 'stop' });
  relay.onBody(content);
  relay.onBody(Buffer.from('data: [DONE]\n\n'));
  relay.onEnd();
  await client.ended;
  expect(await new Response(client.body()).text()).toBe(`${opening}${content}data: [DONE]\n\n`);
}, 60_000);

test('a stream that ends without content, finish reason and usage is no answer', async () => {
  const { client, relay, told } = await streamOf(depsOf());
  relay.onHead(head(200, 'text/event-stream'));
  relay.onBody(chunk({ delta: { role: 'assistant', content: '' } }));
  relay.onBody(Buffer.from('data: [DONE]\n\n'));
  expect([client.committed, told]).toEqual([false, ['head', 'upstream_malformed']]);
  client.discard();
});

test('a short stream that ends before its client reads leaves no deadline', async () => {
  const deps = depsOf();
  const { client, relay, told } = await streamOf(deps);
  const records =
    'data: {"id":"a","choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';
  relay.onHead(head(200, 'text/event-stream'));
  relay.onBody(Buffer.from(records));
  relay.onEnd();
  expect(await new Response(client.body()).text()).toBe(records);
  expect([client.slot, told.at(-1)]).toEqual([UNWATCHED, 'closed']);
  // Its first chunk has no role: it is still relayed, and counted.
  const { received, withheld } = depsOf().protocolViolations;
  expect(deps.protocolViolations).toEqual({ received: { ...received, chat: 1 }, withheld });
});

test('a stream that ended before its client reads is one piece once it is settled', async () => {
  const { client, relay } = await streamOf(depsOf());
  expect(client.ended).toBeNull();
  relay.onHead(head(200, 'text/event-stream'));
  relay.onBody(chunk({ delta: { role: 'assistant', content: 'hi' } }));
  expect(client.ended).toBeNull();
  relay.onBody(chunk({ delta: {}, finish_reason: 'stop' }));
  relay.onBody(Buffer.from('data: [DONE]\n\n'));
  expect(client.ended).toBeInstanceOf(Promise);
  expect(client.body()).toBeInstanceOf(ReadableStream);
  await client.ended;
  expect(String(client.body())).toEndWith('data: [DONE]\n\n');
});

test("received violations count by upstream's format, withheld ones by the client's", async () => {
  const deps = depsOf();
  const call = await heldCall(deps);
  countViolations(call, { name: 'messages' }, { rewrites: false, protocolViolations: 2 });
  countViolations(call, { name: 'messages' }, { rewrites: true, protocolViolations: 1 });
  const { received, withheld } = depsOf().protocolViolations;
  expect(deps.protocolViolations).toEqual({
    received: { ...received, messages: 2 },
    withheld: { ...withheld, chat: 1 },
  });
});
