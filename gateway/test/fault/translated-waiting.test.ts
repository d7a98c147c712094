/**
 * Tests translated streams when one side waits: a client that disconnects, a silent upstream, a client that stops
 * reading. Vectors 34 and 35.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { connectRaw, rawRequest } from '../fake-upstream/raw-client.ts';
import type { Scenario } from '../fake-upstream/scenario.ts';
import { eventually } from '../harness/eventually.ts';
import { startScheduledClock } from '../harness/scheduled-clock.ts';
import type { CallLine } from '../harness/start-gateway.ts';
import type { Pair } from '../harness/start-pair.ts';
import { ask, endsInError, hasTerminal, PROTOCOLS, type ProtocolName, renderBody, send } from './calls.ts';
import { SHORT, scriptBoth, startTranslated, translatedModel, UPSTREAM_OF } from './translated-rig.ts';

const LEAVE_MS_MAX = 1_000;
const KEEP_ALIVE = { chat: ': keep-alive\n', messages: 'event: ping\n' } as const;
const PATHS = { chat: '/v1/chat/completions', messages: '/v1/messages' } as const;

let pair: Pair;
let patient: Pair;
/** A provider on a busy machine pauses for as long as this one allows, so it serves one test only. */
let hasty: Pair;
beforeAll(async () => {
  [pair, hasty, patient] = await Promise.all([
    startTranslated(['leave', 'stuck'], { limits: { slow_reader_bytes_max: '64KiB', slow_reader_timeout: '3s' } }),
    startTranslated(['idle'], { timeouts: { idle: '500ms' } }),
    // Each call has one attempt, and each refusal a provider of its own, so that it affects no other call.
    startTranslated(['silent', 'late-0', 'late-1', 'late-2', 'late-3'], {
      limits: { keep_alive: '100ms', commit_after: '200ms' },
      apart: true,
      routing: { max_extra_attempts: 0 },
    }),
  ]);
});
afterAll(() => Promise.all([pair.stop(), hasty.stop(), patient.stop()]));

async function recordOf({ gateway }: Pair, model: string): Promise<CallLine> {
  return eventually('the record', async () => (await gateway.calls()).find((line) => line.model === model));
}

describe('vector 34: a client that leaves takes its upstream call with it', () => {
  const states: ReadonlyArray<readonly [name: string, scenario: Scenario, stream: boolean, events: number]> = [
    ['after some deltas', { answer: 'long:1000', delayBetweenEventsMs: 20 }, true, 6],
    ['before the head', { delayBeforeFirstByteMs: 20_000 }, true, 0],
    ['before the head of a plain answer', { delayBeforeFirstByteMs: 20_000 }, false, 0],
    ['in the middle of a plain body', { cut: { at: 40, how: 'stall' } }, false, 0],
  ];
  test.each(states)('%s', async (_, scenario, stream, events) => {
    for (const client of PROTOCOLS) {
      const model = translatedModel(client, 'leave');
      pair.fake.reset();
      pair.fake.script(model, scenario);
      const leave = new AbortController();
      const response = send(pair.gateway, { protocol: client, model, stream, signal: leave.signal });
      const left = response
        .then(async (came) => void (await came.text()))
        .then(
          () => false,
          () => true,
        );
      const [call] = await pair.fake.waitFor((one) => one.eventsSent >= events);
      const id = events > 0 ? (await response).headers.get('x-request-id') : null;
      const scheduledMs = startScheduledClock();
      leave.abort();
      await pair.fake.waitFor((one) => one.number === call?.number && one.leftAtMs !== null, { timeoutMs: 20_000 });
      expect(scheduledMs()).toBeLessThan(LEAVE_MS_MAX);
      expect(await left).toBe(true);
      const record = await eventually('the record', async () => {
        const [newest] = await pair.gateway.calls('--limit', '1');
        return newest?.model === model && (id === null || newest.request_id === id) ? newest : null;
      });
      expect(record).toMatchObject({ status: 499, error: 'client_left', protocol: client, stream });
      // Input is charged once it was sent.
      expect(record.usage_source).toMatch(/^(?:counted|partial)$/);
      expect(record.usage.input).toBeGreaterThan(0);
      if (events > 0) expect(record.usage.output).toBeGreaterThan(0);
    }
  });
});

describe('a silent upstream', () => {
  const onBoth = (look: (client: ProtocolName) => Promise<void>) => Promise.all(PROTOCOLS.map(look));

  test('silence is bridged by an early 200 and keep-alives of the client’s format, and the answer is complete', () =>
    onBoth(async (client) => {
      patient.fake.script(translatedModel(client, 'silent'), { answer: 'think', delayBeforeFirstByteMs: 700 });
      const asking = { protocol: client, model: translatedModel(client, 'silent'), stream: true };
      const { status, text } = await ask(patient.gateway, asking);
      expect([status, hasTerminal(client, text)]).toEqual([200, true]);
      expect(text.startsWith(KEEP_ALIVE[client])).toBe(true);
      expect(text.split(KEEP_ALIVE[client]).length).toBeGreaterThan(3);
    }));

  test('in the middle of a stream too, and no keep-alive breaks a record', () =>
    onBoth(async (client) => {
      const { records } = SHORT[UPSTREAM_OF[client]];
      patient.fake.script(translatedModel(client, 'silent'), { records, delayBetweenEventsMs: 150 });
      const asking = { protocol: client, model: translatedModel(client, 'silent'), stream: true };
      const { text } = await ask(patient.gateway, asking);
      expect(hasTerminal(client, text)).toBe(true);
      expect(text.split(KEEP_ALIVE[client]).length).toBeGreaterThan(3);
      for (const record of text.split('\n\n').filter(Boolean)) {
        expect(record).toMatch(
          client === 'chat' ? /^(?:: keep-alive$|: ping$|data: [{[])/ : /^event: \w+\ndata: \{.*\}$/,
        );
      }
    }));

  const TOO_LONG = {
    chat: {
      error: {
        message: "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
        type: 'invalid_request_error',
        code: 'context_length_exceeded',
      },
    },
    messages: { type: 'error', error: { type: 'x', message: 'prompt is too long: 9000 tokens > 8192 maximum' } },
  };
  const LATE: ReadonlyArray<
    readonly [
      name: string,
      scenario: (upstream: ProtocolName) => Scenario,
      says: Readonly<Record<ProtocolName, RegExp>>,
    ]
  > = [
    [
      'limits the rate',
      () => ({ status: 429, errorBodyBytes: 100 }),
      { chat: /"rate_limit_exceeded"/, messages: /"rate_limit_error"/ },
    ],
    [
      'finds the prompt too long',
      (upstream) => ({ status: 400, json: TOO_LONG[upstream] }),
      { chat: /maximum context length.*"context_length_exceeded"/, messages: /prompt is too long: 9000 tokens > 8192/ },
    ],
    [
      'refuses the operator’s account, of which nothing is told',
      () => ({ status: 401, body: '{"error":{"message":"no such organisation: acme"}}' }),
      { chat: /^(?!.*acme).*"api_error"/s, messages: /^(?!.*acme).*"api_error"/s },
    ],
    [
      'answers in one piece that is no answer',
      () => ({ json: { id: 'x' } }),
      { chat: /"api_error"/, messages: /"api_error"/ },
    ],
  ];
  test.each(LATE.map((row, index) => [...row, `late-${index}`] as const))(
    'an upstream that %s after the early 200 is reported in the stream, in the client’s format',
    (_, scenario, says, name) =>
      onBoth(async (client) => {
        const model = translatedModel(client, name);
        patient.fake.script(model, { ...scenario(UPSTREAM_OF[client]), delayBeforeFirstByteMs: 400 });
        const { status, text } = await ask(patient.gateway, { protocol: client, model, stream: true });
        expect([status, hasTerminal(client, text), endsInError(client, text)]).toEqual([200, false, true]);
        expect(text).toMatch(says[client]);
      }),
  );

  test('is given up in the middle of a stream, with an error there', () =>
    onBoth(async (client) => {
      const model = translatedModel(client, 'idle');
      hasty.fake.script(model, { answer: 'long:20', stallAfterEvent: 8 });
      const { status, text } = await ask(hasty.gateway, { protocol: client, model, stream: true });
      expect([status, hasTerminal(client, text), endsInError(client, text)]).toEqual([200, false, true]);
      expect(text).toContain(client === 'chat' ? '"api_error"' : '"timeout_error"');
      expect(await recordOf(hasty, model)).toMatchObject({ error: 'upstream_timeout', usage_source: 'partial' });
    }));
});

test('vector 35: a client that stops reading pauses upstream, holds bounded memory and is dropped', async () => {
  scriptBoth(pair, 'stuck', { answer: 'endless' });
  await Promise.all(
    PROTOCOLS.map(async (client) => {
      const model = translatedModel(client, 'stuck');
      const reader = await connectRaw(pair.gateway.url);
      reader.pause();
      const headers = { authorization: `Bearer ${pair.gateway.key}` };
      reader.send(rawRequest('POST', PATHS[client], renderBody({ protocol: client, model, stream: true }), headers));
      await pair.fake.waitFor((one) => one.model === model && one.eventsSent > 1_000, { timeoutMs: 10_000 });
      const sentBytes = await pausedAt(model);
      const record = await recordOf(pair, model);
      const served = await eventually('the provider to notice', () =>
        pair.fake.served(model).find(({ finished }) => finished !== 'open'),
      );
      console.log(`stopped ${client} reader: upstream was paused after ${Math.round(sentBytes / 1024)} KiB`);
      expect([served.finished, served.bytesSent]).toEqual(['client-left', sentBytes]);
      expect(record).toMatchObject({ error: 'reader_too_slow', protocol: client });
      expect(record.usage.output).toBeGreaterThan(0);
      reader.leave('rst');
    }),
  );
});

/** Returns the bytes upstream could send of an endless answer, once 20 readings in a row show no growth. */
async function pausedAt(model: string): Promise<number> {
  let bytes = -1;
  let looks = 0;
  return eventually(
    'upstream to be paused',
    () => {
      const now = pair.fake.served(model)[0]?.bytesSent ?? 0;
      looks = now === bytes ? looks + 1 : 0;
      bytes = now;
      return looks >= 20 ? bytes : null;
    },
    10_000,
  );
}
