/** Tests that a request that cannot be sent ends as a fault of the gateway, and leaves no open call. */
import { expect, spyOn, test } from 'bun:test';
import { loadConfig } from '../../config/load-config.ts';
import { OpenSet } from '../../lib/open-set.ts';
import { chatUpstream } from '../../protocols/chat/upstream/upstream-protocol.ts';
import type { UpstreamProtocol } from '../../protocols/upstream-protocol.ts';
import { ChoiceState } from '../../routing/choose/choose.ts';
import { onlyCandidate } from '../../routing/choose/prepared-candidates.ts';
import { RoutingState } from '../../routing/health/routing-state.ts';
import type { ExchangeListener } from '../../upstream/exchange.ts';
import { type Held, setMoney, setTarget } from '../call.ts';
import type { Interruptible } from '../deps.ts';
import { TokenRatio } from '../money/usage-checks.ts';
import { RefusedMembers } from '../plan/refused-members.ts';
import type { UpstreamCall } from '../plan/upstream-call.ts';
import { holdMoney } from '../testing/held-money.ts';
import { budgetOf, openDesk } from '../testing/open-desk.ts';
import { routedCall } from '../testing/routed-call.ts';
import { attempt } from './attempt.ts';
import { CallTargets } from './call-targets.ts';

const { config } = loadConfig({ environment: {}, cwd: '/nowhere' });
/** Lets the event loop run what is ready. */
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
const TIMEOUTS = { connectMs: 5_000, firstByteMs: 60_000, firstBytePlainMs: 60_000, idleMs: 60_000, totalMs: 600_000 };
const startObserver = () => chatUpstream.passThrough.startObserver({ withholdUsage: false, fallbackId: 'chatcmpl-0' });
const folding = () => ({
  observer: startObserver(),
  take: () => undefined,
  finish: () => ({ json: '', finish_reason: '', dropped: [] }),
});

function planOf(folds: boolean): UpstreamCall {
  return {
    protocol: chatUpstream as UpstreamProtocol,
    body: Buffer.from('{}'),
    form: null,
    translation: null,
    renderAnswer: null,
    dropped: [],
    startObserver,
    startFolding: folds ? folding : null,
    nextAttemptAfter: () => null,
  };
}

test.each([
  ['plain', false, false],
  ['streamed', true, false],
  ['folded', false, true],
])('a %s request that cannot be sent', async (_, stream, folds) => {
  if (config === null) throw new Error('the defaults must load');
  const openCalls = new OpenSet<Interruptible>();
  const logged: string[] = [];
  const log = {
    upstream: (_id: string, _provider: string, words: string) => logged.push(words),
    fault: () => undefined,
  };
  const billing = { ratio: new TokenRatio() };
  const deps = { settings: { config, routes: new Map() }, openCalls, log, routing: new RoutingState(), billing };
  const call = routedCall({ facts: { stream } }, deps as never);
  const openExchange = () => {
    throw new Error('there is no endpoint');
  };
  const target = { ...call.target, upstream: { ...call.target.upstream, openExchange } };
  setTarget(call, target);
  call.candidates = onlyCandidate({ ...call.route, targets: [target] }) ?? [];
  setMoney(call, (await holdMoney({ cap: 1_000_000n })).money);
  await expect(attempt(call, planOf(folds))).rejects.toMatchObject({ kind: 'gateway_fault' });
  expect(openCalls.size).toBe(0);
  expect(logged).toEqual(['Error: there is no endpoint']);
  expect(call.attempts).toMatchObject([{ status: null, error: 'gateway_fault' }]);
});

test('a request that waits for its hold does not leave after its client has left', async () => {
  if (config === null) throw new Error('the defaults must load');
  const openCalls = new OpenSet<Interruptible>();
  const routing = new RoutingState();
  const log = { upstream: () => undefined, fault: () => undefined };
  const deps = { settings: { config, routes: new Map() }, openCalls, log, routing, choice: new ChoiceState(routing) };
  const { billing } = openDesk([[{ kind: 'key', id: 'key_1' }, budgetOf(1_000_000_000n)]]);
  const more = { refusedMembers: new RefusedMembers(), billing };
  const call = routedCall({ billing, host: 'lab' }, { ...deps, ...more } as never);
  const sent: ExchangeListener[] = [];
  const openExchange = (_request: unknown, _credential: unknown, _limit: unknown, listener: ExchangeListener) => {
    sent.push(listener);
    return { sentAtMs: 1, headAtMs: 0, lastByteAtMs: 0, abort() {}, pause() {}, resume() {} };
  };
  const target = { ...call.target, upstream: { ...call.target.upstream, timeouts: TIMEOUTS, openExchange } };
  setTarget(call, target as never);
  call.candidates = onlyCandidate({ ...call.route, targets: [target as never] }) ?? [];
  const { money } = await holdMoney({ cap: 1_000_000n });
  setMoney(call, money);
  call.folded = true;
  const leaving = new AbortController();
  Object.defineProperty(call.request, 'signal', { value: leaving.signal });
  const written = Promise.withResolvers<boolean>();
  spyOn(money, 'coverUnmetered').mockImplementation(() => written.promise);
  const ended = attempt(call as never, planOf(true)).catch(({ kind }) => kind);
  await turn();
  sent[0]?.onHead({ status: 400, headers: [['content-type', 'application/json']] } as never);
  const { firstByteMs } = call;
  sent[0]?.onBody(Buffer.from('{"error":{"message":"stream is not supported"}}'));
  sent[0]?.onEnd();
  await turn();
  // The answer in one piece tells its head again.
  expect([typeof firstByteMs, call.firstByteMs]).toEqual(['number', firstByteMs]);
  leaving.abort();
  expect(await ended).toBe('client_left');
  written.resolve(true);
  await turn();
  expect([sent.length, openCalls.size]).toEqual([1, 0]);
});

/** A call whose only target refuses its first request; what it holds is in `openCalls` and `choice`. */
async function openFaulty(maxConcurrency: number | null) {
  if (config === null) throw new Error('the defaults must load');
  const openCalls = new OpenSet<Interruptible>();
  const routing = new RoutingState();
  const choice = new ChoiceState(routing);
  const log = { upstream: () => undefined, fault: () => undefined };
  const billing = { ratio: new TokenRatio() };
  const settings = { config, routes: new Map() };
  const call = routedCall({}, { settings, openCalls, log, routing, choice, billing } as never);
  const openExchange = (_request: unknown, _credential: unknown, _limit: unknown, listener: ExchangeListener) => {
    setTimeout(() => {
      listener.onHead({ status: 500, headers: [['content-type', 'application/json']] } as never);
      listener.onBody(Buffer.from('{"error":{"message":"broken"}}'));
      listener.onEnd();
    });
    return { sentAtMs: 1, headAtMs: 0, lastByteAtMs: 0, abort() {}, pause() {}, resume() {} };
  };
  const target = { ...call.target, maxConcurrency, upstream: { ...call.target.upstream, openExchange } };
  setTarget(call, target as never);
  call.candidates = onlyCandidate({ ...call.route, targets: [target as never] }) ?? [];
  setMoney(call, (await holdMoney({ cap: 1_000_000n })).money);
  return { call: call as never, target: target as never, openCalls, choice };
}

test.each([null, 1])('a fault while a target is prepared gives back its place and ends the call: %p', async (most) => {
  const { call, target, openCalls, choice } = await openFaulty(most);
  const abandoned = spyOn(CallTargets.prototype, 'abandoned');
  const broken = Object.defineProperty(planOf(false), 'dropped', {
    get() {
      throw new Error('broken');
    },
  });
  await expect(attempt(call, broken)).rejects.toMatchObject({ kind: 'gateway_fault' });
  expect([openCalls.size, abandoned.mock.calls.length]).toEqual([0, 1]);
  abandoned.mockRestore();
  if (most === null) return;
  const place = choice.queues.enter('other model', target, 'other', performance.now(), { onPlace: () => undefined });
  expect(place?.state).toBe('open');
});

test('a fault after a failed attempt ends the call', async () => {
  const { call, openCalls } = await openFaulty(null);
  const failed = spyOn(CallTargets.prototype, 'failed').mockImplementation(() => {
    throw new Error('broken');
  });
  await expect(attempt(call, planOf(false))).rejects.toMatchObject({ kind: 'gateway_fault' });
  failed.mockRestore();
  expect(openCalls.size).toBe(0);
});

test('of a folded stream, the id and the limits that its head names are kept', async () => {
  const { call } = await openFaulty(null);
  const routed: Held = call;
  const openExchange = (_request: unknown, _credential: unknown, _limit: unknown, listener: ExchangeListener) => {
    setTimeout(() => {
      const headers = [
        ['content-type', 'text/event-stream'],
        ['x-request-id', 'req-upstream'],
      ];
      listener.onHead({ status: 200, headers } as never);
      listener.onEnd();
    });
    return { sentAtMs: 1, headAtMs: 1, lastByteAtMs: 0, abort() {}, pause() {}, resume() {} };
  };
  setTarget(routed, { ...routed.target, upstream: { ...routed.target.upstream, openExchange } } as never);
  routed.candidates = onlyCandidate({ ...routed.route, targets: [routed.target] }) ?? [];
  const learned = spyOn(CallTargets.prototype, 'onHead');
  await attempt(call, planOf(true)).catch(() => undefined);
  expect(learned.mock.calls.length).toBeGreaterThan(0);
  learned.mockRestore();
  expect(routed.attempts[0]?.upstream_request_id).toBe('req-upstream');
});
