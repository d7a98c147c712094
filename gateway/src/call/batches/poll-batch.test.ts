/** Tests how a batch is asked for at its provider: in what time, and what its answers say of it. */
import { expect, test } from 'bun:test';
import { resolveLimits } from '../../config/resolve-settings.ts';
import type { CallFailure } from '../../errors/call-failure.ts';
import type { UpstreamRequest } from '../../providers/provider.ts';
import type { DetachedCall } from '../../store/ports/ledger.ts';
import { heldCall, jobOf, PRICE_VERSION } from '../../store/testing/sample-call.ts';
import type { ExchangeListener } from '../../upstream/exchange.ts';
import { routedCall } from '../testing/routed-call.ts';
import { type BatchJobDeps, createBatchJob } from './poll-batch.ts';

const routed = routedCall({ host: 'acme' });

const call: DetachedCall = {
  ...heldCall('req_1', 30n),
  extensions: 0,
  job: {
    ...jobOf('batch_1'),
    kind: 'batch',
    provider: 'acme',
    model: 'm-upstream',
    batch: { format: 'chat', prices: [{ model: 'm', tier: {}, version: PRICE_VERSION }], vendor: null, requests: 1 },
  },
};

/** Polls once at a provider with this answer. */
async function poll(status: number, body: object) {
  const sent: UpstreamRequest[] = [];
  const upstream = {
    ...routed.target.upstream,
    openExchange(request: UpstreamRequest, _credential: number, _bytesMax: number, listener: ExchangeListener) {
      sent.push(request);
      queueMicrotask(() => {
        listener.onHead({ status, headers: [], framing: 'chunked', lengthBytes: 0, keepAlive: true } as never);
        listener.onBody(Buffer.from(JSON.stringify(body)));
        listener.onEnd();
      });
      return { sentAtMs: 1, headAtMs: 1, lastByteAtMs: 1, pause() {}, resume() {}, abort() {} };
    },
  };
  const targets = [{ ...routed.target, upstream }];
  const deps = {
    settings: { routes: new Map([['m', { ...routed.route, targets }]]), config: { limits: resolveLimits({}) } },
    storedState: { find: async () => [] },
  } as unknown as BatchJobDeps;
  const startMs = performance.now();
  const state = await createBatchJob(() => deps)
    .poll(call, new AbortController().signal)
    .catch((error: unknown) => error);
  const [request] = sent;
  return { state, path: request?.object?.path, withinMs: (request?.endMs ?? Number.POSITIVE_INFINITY) - startMs };
}

test('a provider has half a minute to say how a batch is, whatever its own limits', async () => {
  const { state, path, withinMs } = await poll(200, { id: 'batch_1', status: 'in_progress' });
  expect([state, path]).toEqual([{ kind: 'running' }, '/batch_1']);
  expect(withinMs).toBeLessThan(31_000);
});

test('a batch that failed as a whole costs nothing', async () => {
  const { state } = await poll(200, { id: 'batch_1', status: 'failed' });
  expect(state).toMatchObject({ kind: 'ended', end: { error: 'upstream_rejected', cost: 0n, usage_source: 'void' } });
});

test('a batch without an output is settled once its counts say that no request was answered', async () => {
  const without = (request_counts: object) =>
    poll(200, { id: 'batch_1', status: 'completed', output_file_id: null, error_file_id: null, request_counts });
  const { state } = await without({ total: 1, completed: 0, failed: 1 });
  expect(state).toMatchObject({ kind: 'ended', end: { finish_reason: 'completed', cost: 0n, usage_source: 'void' } });
  for (const counts of [{ total: 1, completed: 1, failed: 0 }, { total: 0, completed: 0, failed: 0 }, {}]) {
    expect((await without(counts)).state).toMatchObject({ kind: 'upstream_malformed' });
  }
});

test('a refused credential is trouble of the operator, and ends nothing', async () => {
  const { state } = await poll(401, { error: { message: 'no such key', type: 'invalid_request_error' } });
  expect((state as CallFailure).kind).toBe('upstream_credential');
});

test('a batch that the provider does not know goes on: its credential may be one of another account now', async () => {
  const { state } = await poll(404, { error: { message: "No batch found with id 'batch_1'.", type: 'not_found' } });
  expect((state as CallFailure).kind).toBe('upstream_misconfigured');
});
