/** Tests that a request that cannot be sent ends as a fault of the gateway, and leaves no open call. */
import { expect, test } from 'bun:test';
import { loadConfig } from '../../config/load-config.ts';
import { OpenSet } from '../../lib/open-set.ts';
import { chatUpstream } from '../../protocols/chat/upstream/upstream-protocol.ts';
import type { UpstreamProtocol } from '../../protocols/upstream-protocol.ts';
import { onlyCandidate } from '../../routing/choose/prepared-candidates.ts';
import { RoutingState } from '../../routing/health/routing-state.ts';
import { setMoney, setTarget } from '../call.ts';
import type { Interruptible } from '../deps.ts';
import { TokenRatio } from '../money/usage-checks.ts';
import type { UpstreamCall } from '../plan/upstream-call.ts';
import { holdMoney } from '../testing/held-money.ts';
import { routedCall } from '../testing/routed-call.ts';
import { attempt } from './attempt.ts';

const { config } = loadConfig({ environment: {}, cwd: '/nowhere' });
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
