/**
 * Tests that a recorded answer, plain or streamed, arrives complete in its own format and in the other: parsed by the
 * product, and assembled by the official clients, which also send the translated recorded request.
 */
import { describe, expect, test } from 'bun:test';
import type { GenerationEvent } from '../../../src/generation/event.ts';
import { foldGeneration, type Generation, unfoldGeneration } from '../../../src/generation/generation.ts';
import { CLIENT_PROTOCOLS, UPSTREAM_PROTOCOLS } from '../../../src/protocols/registry.ts';
import { CAPABLE } from '../../../src/protocols/testing/capable-upstream.ts';
import type { SetName } from '../../fake-upstream/recordings.ts';
import type { Json } from '../wire-text.ts';
import { type Form, type ReadAnswer, readBack, withoutCitations, withoutPrice } from './answer-oracle.ts';
import { foundBy, wantedBy } from './client-oracle.ts';
import { type ClientReading, readByClient } from './clients.ts';
import type { Format } from './format.ts';
import {
  CONTEXT,
  eventsOf,
  eventsOfStream,
  exchangeSets,
  OTHER,
  orRefusal,
  type RecordedExchange,
  readRequest,
  streamFor,
  writeRequest,
} from './rig.ts';

const FORMS: readonly Form[] = ['plain', 'streamed'];
/** Used for a request that was not recorded or cannot be translated. */
const HELLO: { readonly [format in Format]: string } = {
  chat: '{"model":"m","messages":[{"role":"user","content":"hello"}]}',
  messages: '{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hello"}]}',
};
interface Expected {
  /** Number of answers parsed completely, and how many of them are streams. */
  readonly answeredMin: number;
  readonly streamsMin: number;
  /** Status 200 without an answer: intended provider errors, and token counts. */
  readonly none: { readonly error: readonly string[]; readonly malformed: readonly string[] };
  /** Answers that change in their own format. */
  readonly differing: readonly string[];
  /** The official helper throws if the answer to a strict schema is a refusal (wire reference A.7). */
  readonly refusedByHelper: readonly string[];
  readonly sentMin: number;
  readonly unansweredMin: number;
}

const EXPECTED: Readonly<Record<SetName, Expected>> = {
  corpus: {
    answeredMin: 155,
    streamsMin: 57,
    none: {
      error: [
        'corpus-chat/error-with-status-200',
        'corpus-chat/stream-error-after-text',
        'corpus-messages/stream-error-first',
        'corpus-messages/stream-error-after-text',
      ],
      malformed: ['corpus-messages/count-of-tokens'],
    },
    differing: [
      // Upstream named no model, so the requested one is shown.
      'model of corpus-chat/no-model to chat, plain',
      'model of corpus-chat/no-model to chat, streamed',
      // `message_delta` has no member for the cache lifetime of written tokens (wire reference B.6).
      'usage of corpus-messages/caches-of-both-times to messages, streamed',
    ],
    refusedByHelper: [],
    sentMin: 500,
    unansweredMin: 50,
  },
  recordings: {
    answeredMin: 582,
    streamsMin: 180,
    none: {
      error: ['openai-chat/0050', 'openai-chat/0176', 'openai-chat/0345', 'anthropic-messages/0365'],
      malformed: ['0179', '0206', '0328', '0342', '0347', '0351'].map((number) => `anthropic-messages/${number}`),
    },
    differing: [
      // OpenRouter's citation quotes its source, in a member that OpenAI's does not have.
      'parts of openai-chat/0017 to chat, plain',
      'parts of openai-chat/0017 to chat, streamed',
      // Perplexity and xAI name sources of the whole answer; each gets a place, all of the text.
      'parts of openai-chat/0073 to chat, plain',
      'parts of openai-chat/0073 to chat, streamed',
      'parts of openai-chat/0120 to chat, plain',
      'parts of openai-chat/0120 to chat, streamed',
      // Perplexity also reports the request class that determines its fee; OpenAI's usage has no member for it.
      'parts of openai-chat/0177 to chat, plain',
      'usage of openai-chat/0177 to chat, plain',
      'parts of openai-chat/0177 to chat, streamed',
      'usage of openai-chat/0177 to chat, streamed',
      'parts of openai-chat/0210 to chat, plain',
      'usage of openai-chat/0210 to chat, plain',
      'parts of openai-chat/0210 to chat, streamed',
      'usage of openai-chat/0210 to chat, streamed',
      'parts of openai-chat/0276 to chat, plain',
      'usage of openai-chat/0276 to chat, plain',
      'parts of openai-chat/0276 to chat, streamed',
      'usage of openai-chat/0276 to chat, streamed',
      'parts of openai-chat/0322 to chat, plain',
      'usage of openai-chat/0322 to chat, plain',
      'parts of openai-chat/0322 to chat, streamed',
      'usage of openai-chat/0322 to chat, streamed',
      // Gemini attaches data to its calls; the gateway keeps them for clients of chat.
      'parts of openai-chat/0358 to chat, plain',
      'parts of openai-chat/0358 to chat, streamed',
      'parts of openai-chat/0451 to chat, plain',
      'parts of openai-chat/0451 to chat, streamed',
      // xAI's sources, as above.
      'parts of openai-chat/0554 to chat, plain',
      'parts of openai-chat/0554 to chat, streamed',
      // Upstream named no model, so the requested one is shown.
      'model of openai-chat/0699 to chat, plain',
      'model of openai-chat/0699 to chat, streamed',
      // `message_delta` has no member for the cache lifetime of written tokens (wire reference B.6).
      'usage of anthropic-messages/0089 to messages, streamed',
    ],
    refusedByHelper: ['openai-chat/0649 to chat, streamed'],
    sentMin: 1_950,
    unansweredMin: 120,
  },
};

interface Answered {
  readonly exchange: RecordedExchange;
  readonly events: readonly GenerationEvent[];
  readonly answer: Generation;
}

const sets = exchangeSets().map(({ name, exchanges }) => {
  const recorded = exchanges.filter(({ request }) => request !== null);
  const read = exchanges
    .filter(({ status }) => status === 200)
    .map((exchange) => ({ exchange, events: eventsOf(exchange) }));
  const answered: Answered[] = read
    .filter(({ events }) => events.at(-1)?.kind === 'end')
    .map(({ exchange, events }) => {
      const answer = foldGeneration(events);
      return { exchange, events, answer: { ...answer, usage: withoutPrice(answer.usage) } };
    });
  return { name, recorded, read, answered };
});

/** The answer as a client of the format gets it: live from upstream's events, or from the whole. */
function write({ events, answer }: Answered, to: Format, form: Form): string {
  if (form === 'streamed') return streamFor(to, events);
  return CLIENT_PROTOCOLS[to].renderAnswer(answer, CONTEXT).json;
}

function eventsIn(text: string, to: Format, form: Form): readonly GenerationEvent[] {
  const bytes = Buffer.from(text);
  return form === 'streamed' ? eventsOfStream(to, [bytes]) : UPSTREAM_PROTOCOLS[to].parseAnswer(bytes);
}

function readAgain(text: string, to: Format, form: Form): ReadAnswer {
  const { id: _, reported: __, explanation: ___, ...answer } = foldGeneration(eventsIn(text, to, form));
  return to === 'chat' ? withoutCitations(answer) : answer;
}

/** Each answer in both formats and both forms. */
function* waysOf(answered: readonly Answered[]): Generator<{
  readonly one: Answered;
  readonly to: Format;
  readonly form: Form;
  readonly name: string;
}> {
  for (const one of answered) {
    for (const to of [one.exchange.format, OTHER[one.exchange.format]]) {
      for (const form of FORMS) yield { one, to, form, name: `${one.exchange.id} to ${to}, ${form}` };
    }
  }
}

/** The recorded request for an upstream of the format; null if none was recorded or it is refused. */
function requestFor({ format, request }: RecordedExchange, to: Format): string | null {
  if (request === null) return null;
  const written = orRefusal(() => writeRequest(to, readRequest(format, request).request, CAPABLE));
  return 'refused' in written ? null : written.json;
}

/** The suites choose plain or streamed, not the recorded request. */
function lessStream({ stream: _, stream_options: __, ...body }: Json): Json {
  return body;
}

describe.each(sets)('answers of $name in both formats', ({ name: set, recorded, read, answered }) => {
  const expected = EXPECTED[set];

  test('are many, and the bodies of status 200 that are no answers are known', () => {
    const streams = answered.filter(({ exchange }) => exchange.streamed).length;
    console.log(
      `translated answers: ${answered.length} read whole (${streams} streams), ${read.length - answered.length} are none`,
    );
    const ended = (kind: string) =>
      read.filter(({ events }) => events.at(-1)?.kind === kind).map(({ exchange }) => exchange.id);
    expect(answered.length).toBeGreaterThanOrEqual(expected.answeredMin);
    expect(streams).toBeGreaterThanOrEqual(expected.streamsMin);
    expect({ error: ended('error'), malformed: ended('malformed') } as object).toEqual(expected.none);
  });

  test('are read back as the tables say, plain and streamed', () => {
    for (const { one, to, form, name } of waysOf(answered)) {
      const wanted = readBack(one.answer, to, form);
      expect([name, readAgain(write(one, to, form), to, form)]).toEqual([
        name,
        to === 'chat' ? withoutCitations(wanted) : wanted,
      ]);
    }
  });

  test('answers survive a round trip through their own format, plain and streamed, except for the listed differences', () => {
    const differing: string[] = [];
    for (const { one, to, form, name } of waysOf(answered)) {
      if (to !== one.exchange.format) continue;
      const again = foldGeneration(eventsIn(write(one, to, form), to, form));
      for (const member of [
        'model',
        'parts',
        'finish_reason',
        'stop_sequence',
        'explanation',
        'usage',
        'complete',
      ] as const) {
        if (!Bun.deepEquals(again[member], one.answer[member])) differing.push(`${member} of ${name}`);
      }
    }
    expect(differing).toEqual([...expected.differing]);
  });

  test('a stream rendered from the complete answer reads like upstream’s own events', () => {
    for (const one of answered) {
      for (const to of [one.exchange.format, OTHER[one.exchange.format]]) {
        const again = streamFor(to, unfoldGeneration(one.answer));
        expect([one.exchange.id, readAgain(again, to, 'streamed')]).toEqual([
          one.exchange.id,
          readAgain(write(one, to, 'streamed'), to, 'streamed'),
        ]);
      }
    }
  });

  test('are put together by the official clients, which send the translated request as it is', async () => {
    let sent = 0;
    for (const { one, to, form, name } of waysOf(answered)) {
      const own = expected.refusedByHelper.includes(name) ? null : requestFor(one.exchange, to);
      const request = own ?? HELLO[to];
      const reading = await readByClient(to, { request, answer: write(one, to, form), streamed: form === 'streamed' });
      expect([name, foundBy(to, reading)]).toEqual([name, wantedBy(to, one.answer, form)]);
      expect([name, lessStream(reading.sent)]).toEqual([name, lessStream(JSON.parse(request))]);
      if (own !== null) sent += 1;
    }
    console.log(
      `translated answers: the official clients read ${answered.length * 4}, and sent ${sent} translated requests`,
    );
    expect(sent).toBeGreaterThanOrEqual(expected.sentMin);
  }, 60_000);

  test('requests behind other statuses are sent unchanged by the official clients', async () => {
    const whole = answered.find(({ exchange, answer }) => exchange.format === 'chat' && answer.parts.length === 1);
    if (whole === undefined) throw new Error('no recording to answer with');
    const unanswered = recorded.filter(({ id }) => !answered.some(({ exchange }) => exchange.id === id));
    const readings: ClientReading[] = [];
    for (const exchange of unanswered) {
      for (const to of [exchange.format, OTHER[exchange.format]]) {
        const request = requestFor(exchange, to);
        if (request === null) continue;
        const reading = await readByClient(to, { request, answer: write(whole, to, 'plain'), streamed: false });
        expect([exchange.id, to, lessStream(reading.sent)]).toEqual([exchange.id, to, lessStream(JSON.parse(request))]);
        readings.push(reading);
      }
    }
    expect(readings.length).toBeGreaterThanOrEqual(expected.unansweredMin);
  });
});
