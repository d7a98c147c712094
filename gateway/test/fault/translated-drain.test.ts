/**
 * Tests the end of a server during translated streams: after SIGTERM they finish, a second Ctrl-C ends them in-band.
 */
import { afterEach, beforeEach, expect, test } from 'bun:test';
import type { Scenario } from '../fake-upstream/scenario.ts';
import { eventually } from '../harness/eventually.ts';
import type { Pair } from '../harness/start-pair.ts';
import { ask, endsInError, hasTerminal, PROTOCOLS, recordsById } from './calls.ts';
import { scriptBoth, startTranslated, translatedModel } from './translated-rig.ts';

const STREAMS = 20;

let pair: Pair;
beforeEach(async () => {
  pair = await startTranslated(['slow'], { limits: { drain: '200ms' } });
});
afterEach(() => pair.stop());

/** Opens streams of both formats and waits until each has begun. */
async function openStreams(scenario: Scenario) {
  scriptBoth(pair, 'slow', scenario);
  const answers = Array.from({ length: STREAMS }, async (_, index) => {
    const protocol = PROTOCOLS[index % PROTOCOLS.length] ?? 'chat';
    return {
      protocol,
      answer: await ask(pair.gateway, { protocol, model: translatedModel(protocol, 'slow'), stream: true }),
    };
  });
  const hasBegun = { count: STREAMS, timeoutMs: 10_000 };
  await pair.fake.waitFor((call) => call.finished === 'open' && call.eventsSent >= 5, hasBegun);
  return answers;
}

test(`SIGTERM with ${STREAMS} open translated streams: all finish whole, and the server exits with 0`, async () => {
  const answers = await openStreams({ answer: 'long:30', holdAfterEvent: 5 });
  pair.gateway.signal('SIGTERM');
  await eventually('the end to begin', async () =>
    (await fetch(`${pair.gateway.url}/readyz`)).status === 503 ? true : null,
  );
  pair.fake.release();
  const ended = await Promise.all(answers);
  expect(ended.filter(({ protocol, answer }) => !hasTerminal(protocol, answer.text))).toEqual([]);
  expect(ended.filter(({ answer }) => !answer.text.includes('w30 '))).toEqual([]);
  expect(await pair.gateway.exited).toBe(0);
  const records = await recordsById(pair.gateway);
  expect(ended.map(({ answer }) => records.get(answer.requestId)?.error)).toEqual(ended.map(() => null));
});

test('a second Ctrl-C ends them in-band in the client’s format, with a record each, and exits with 0', async () => {
  const answers = await openStreams({ answer: 'long:5000', delayBetweenEventsMs: 20 });
  pair.gateway.signal('SIGINT');
  // Signals within one second count as one, so this repeats until the server has ended.
  const presses = setInterval(() => pair.gateway.signal('SIGINT'), 300);
  const status = await pair.gateway.exited;
  clearInterval(presses);
  expect(status).toBe(0);
  const ended = await Promise.all(answers);
  expect(ended.filter(({ protocol, answer }) => !endsInError(protocol, answer.text))).toEqual([]);
  expect(ended.filter(({ protocol, answer }) => hasTerminal(protocol, answer.text))).toEqual([]);
  const records = await recordsById(pair.gateway);
  expect(ended.map(({ answer }) => records.get(answer.requestId)?.error)).toEqual(ended.map(() => 'draining'));
});
