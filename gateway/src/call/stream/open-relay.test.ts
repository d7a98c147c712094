/** Tests that the registry of open streams holds only running streams, and that violations are counted by format. */
import { expect, test } from 'bun:test';
import { loadConfig } from '../../config/load-config.ts';
import { UNWATCHED } from '../../lib/deadlines.ts';
import { OpenSet } from '../../lib/open-set.ts';
import { chatUpstream } from '../../protocols/chat/upstream/upstream-protocol.ts';
import { RoutingState } from '../../routing/health/routing-state.ts';
import type { ResponseHead } from '../../upstream/connection.ts';
import { AttemptRow, type Held, setMoney } from '../call.ts';
import type { Interruptible } from '../deps.ts';
import type { BillingDeps } from '../money/billing-deps.ts';
import { LimitProofs } from '../money/limit-proofs.ts';
import { TokenRatio, UsageAnomalyLog } from '../money/usage-checks.ts';
import { holdMoney } from '../testing/held-money.ts';
import { routedCall } from '../testing/routed-call.ts';
import { countViolations, openRelay } from './open-relay.ts';
import type { StreamRelay } from './stream-relay.ts';

const { config } = loadConfig({ environment: {}, cwd: '/nowhere' });

function depsOf() {
  if (config === null) throw new Error('the defaults must load');
  const log = { fault: () => undefined, alarm: () => undefined, unpriced: () => undefined, upstream: () => undefined };
  const recorder = { append: () => Promise.resolve(), writable: () => true };
  const protocolViolations = { received: { chat: 0, messages: 0 }, withheld: { chat: 0, messages: 0 } };
  const billing = {
    ratio: new TokenRatio(),
    limitProofs: new LimitProofs(() => undefined),
    usageAnomalies: new UsageAnomalyLog(() => undefined),
  } as Partial<BillingDeps> as BillingDeps;
  const settings = { config, routes: new Map() };
  const openCalls = new OpenSet<Interruptible>();
  return { settings, openCalls, recorder, log, protocolViolations, billing, routing: new RoutingState() };
}

/** A streamed call in the chat format whose money is held. */
async function heldCall(deps: ReturnType<typeof depsOf>): Promise<Held> {
  const call = routedCall({ facts: { stream: true } }, deps);
  setMoney(call, (await holdMoney({ cap: 1_000_000n })).money);
  return call;
}

async function relayOf(deps: ReturnType<typeof depsOf>): Promise<StreamRelay> {
  const call = await heldCall(deps);
  const observer = chatUpstream.passThrough.startObserver({ withholdUsage: false, fallbackId: 'chatcmpl-0' });
  return openRelay(call, { upstream: chatUpstream, observer, row: new AttemptRow(call) }).relay;
}

function head(status: number, type: string): ResponseHead {
  return { status, headers: [['content-type', type]], framing: 'close', lengthBytes: 0, keepAlive: false };
}

test('an error body leaves no open stream', async () => {
  const deps = depsOf();
  const relay = await relayOf(deps);
  expect(deps.openCalls.size).toBe(1);
  relay.onHead(head(400, 'application/json'));
  relay.onBody(Buffer.from('{"error":{"message":"no"}}'));
  relay.onEnd();
  expect(await relay.started).toMatchObject({ kind: 'collected' });
  expect(deps.openCalls.size).toBe(0);
});

test('a transport fault before the first event leaves no open stream', async () => {
  const deps = depsOf();
  const relay = await relayOf(deps);
  relay.onFailure({ kind: 'reset', message: 'gone', sent: true, stale: false });
  await expect(relay.started).rejects.toMatchObject({ kind: 'upstream_failed' });
  expect(deps.openCalls.size).toBe(0);
});

test('a short stream that ends before its client reads leaves no deadline', async () => {
  const deps = depsOf();
  const relay = await relayOf(deps);
  const records =
    'data: {"id":"a","choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';
  relay.onHead(head(200, 'text/event-stream'));
  relay.onBody(Buffer.from(records));
  relay.onEnd();
  await relay.started;
  expect(await new Response(relay.body()).text()).toBe(records);
  expect([relay.slot, deps.openCalls.size]).toEqual([UNWATCHED, 0]);
  // Its first chunk has no role: it is still relayed, and counted.
  expect(deps.protocolViolations).toEqual({ received: { chat: 1, messages: 0 }, withheld: { chat: 0, messages: 0 } });
});

test('a stream that ended before its client reads is one piece once it is settled', async () => {
  const relay = await relayOf(depsOf());
  expect(relay.ended).toBeNull();
  relay.onHead(head(200, 'text/event-stream'));
  relay.onBody(Buffer.from('data: {"id":"a","choices":[{"index":0,"delta":{"role":"assistant","content":"hi"}}]}\n\n'));
  await relay.started;
  expect(relay.ended).toBeNull();
  relay.onBody(Buffer.from('data: {"id":"a","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'));
  relay.onBody(Buffer.from('data: [DONE]\n\n'));
  expect(relay.ended).toBeInstanceOf(Promise);
  expect(relay.body()).toBeInstanceOf(ReadableStream);
  await relay.ended;
  expect(String(relay.body())).toEndWith('data: [DONE]\n\n');
});

test("received violations count by upstream's format, withheld ones by the client's", async () => {
  const deps = depsOf();
  const call = await heldCall(deps);
  countViolations(call, { name: 'messages' }, { rewrites: false, protocolViolations: 2 });
  countViolations(call, { name: 'messages' }, { rewrites: true, protocolViolations: 1 });
  expect(deps.protocolViolations).toEqual({ received: { chat: 0, messages: 2 }, withheld: { chat: 1, messages: 0 } });
});
