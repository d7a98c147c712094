/** Tests that the registry of open streams holds only running streams. */
import { expect, test } from 'bun:test';
import { loadConfig } from '../../config/load-config.ts';
import { SSE } from '../../framing/sse-decoder.ts';
import { UNWATCHED } from '../../lib/deadlines.ts';
import { OpenSet } from '../../lib/open-set.ts';
import { chatClient } from '../../protocols/chat/client/client-protocol.ts';
import { chatUpstream } from '../../protocols/chat/upstream/upstream-protocol.ts';
import type { ResponseHead } from '../../upstream/response-head.ts';
import { AttemptRow } from '../attempt/attempt-row.ts';
import { type Call, openCall } from '../call.ts';
import type { CallDeps } from '../deps.ts';
import { openRelay } from './open-relay.ts';

const { config } = loadConfig({ environment: {}, cwd: '/nowhere' });

function gateOf(): Pick<CallDeps, 'settings' | 'openCalls' | 'recorder' | 'log' | 'protocolViolations'> {
  if (config === null) throw new Error('the defaults must load');
  const log = { fault: () => undefined, alarm: () => undefined, unpriced: () => undefined, upstream: () => undefined };
  const recorder = { append: () => Promise.resolve(), writable: () => true };
  const protocolViolations = { received: { chat: 0, messages: 0 }, withheld: { chat: 0, messages: 0 } };
  return { settings: { config, routes: new Map() }, openCalls: new OpenSet(), recorder, log, protocolViolations };
}

function head(status: number, type: string): ResponseHead {
  return { status, headers: [['content-type', type]], framing: 'close', lengthBytes: 0, keepAlive: false };
}

const plan = (call: Call) => ({
  protocol: chatClient,
  upstream: chatUpstream,
  observer: chatUpstream.passThrough.startObserver({ withholdUsage: false, fallbackId: 'chatcmpl-0' }),
  framing: SSE,
  row: new AttemptRow(call),
});

test('an error body leaves no stream behind', async () => {
  const deps = gateOf();
  const call = openCall('chat', new Headers());
  const { relay } = openRelay(call, deps as CallDeps, plan(call));
  expect(deps.openCalls.size).toBe(1);
  relay.onHead(head(400, 'application/json'));
  relay.onBody(Buffer.from('{"error":{"message":"no"}}'));
  relay.onEnd();
  expect(await relay.started).toMatchObject({ kind: 'collected' });
  expect(deps.openCalls.size).toBe(0);
});

test('a transport fault before the first event leaves none either', async () => {
  const deps = gateOf();
  const call = openCall('chat', new Headers());
  const { relay } = openRelay(call, deps as CallDeps, plan(call));
  relay.onFailure({ kind: 'reset', message: 'gone' });
  await expect(relay.started).rejects.toMatchObject({ kind: 'upstream_failed' });
  expect(deps.openCalls.size).toBe(0);
});

test('a short stream that is over before its client reads leaves nothing that watches it', async () => {
  const deps = gateOf();
  const call = openCall('chat', new Headers());
  const { relay } = openRelay(call, deps as CallDeps, plan(call));
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
