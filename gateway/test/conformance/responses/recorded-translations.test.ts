/**
 * Tests translations of all recorded traffic that concerns Responses: each request is legal in every other format or its
 * refusal is listed; each answer of the format reaches clients of the others whole, and each answer of the others reaches
 * Responses clients in order. The official clients read the answers. Passes where the recordings are absent.
 */
import { describe, expect, test } from 'bun:test';
import OpenAI from 'openai';
import { foldGeneration } from '../../../src/generation/generation.ts';
import { asArray, asObject, type JsonObject } from '../../../src/protocols/json.ts';
import { startTranslationNotes } from '../../../src/protocols/request/translation-notes.ts';
import { responsesClient } from '../../../src/protocols/responses/client/client-protocol.ts';
import {
  RECORDED_ANSWERS,
  RECORDED_REQUESTS,
  RECORDED_STREAMS,
  eventsIn as recordedEvents,
} from '../../../src/protocols/responses/testing/recorded.ts';
import { violationOf } from '../../../src/protocols/responses/testing/responses-stream.ts';
import { responsesUpstream } from '../../../src/protocols/responses/upstream/upstream-protocol.ts';
import { CAPABLE } from '../../../src/protocols/testing/capable-upstream.ts';
import { CONTEXT as CHECK, outlineOf } from '../../../src/protocols/testing/outline-of.ts';
import { judgeConverseRequest } from '../converse/judge-request.ts';
import { judgeGeminiRequest } from '../gemini/gemini-legality.ts';
import { judgeChatRequest } from '../translation/chat-legality.ts';
import { readByClient } from '../translation/clients.ts';
import type { Format } from '../translation/format.ts';
import { judgeMessagesRequest } from '../translation/messages-legality.ts';
import {
  CONTEXT,
  eventsOf,
  eventsOfStream,
  exchangeSets,
  orRefusal,
  streamFor,
  writeRequest,
} from '../translation/rig.ts';
import type { Json } from '../wire-text.ts';

const EXHAUSTIVE = process.env.TOLLGATE_EXHAUSTIVE === '1';
/** Official clients take long: every so many answers. */
const CLIENT_STRIDE = EXHAUSTIVE ? 1 : 9;

const TARGETS: Readonly<Record<string, readonly [model: string, judge: (body: Json, stream: boolean) => string[]]>> = {
  chat: ['lab', judgeChatRequest],
  messages: ['claude-opus-5', judgeMessagesRequest],
  gemini: ['gemini-3-pro', (body) => judgeGeminiRequest(body, { signs: false, vertex: false })],
  converse: ['us.anthropic.claude-sonnet-4-5-20250929-v1:0', judgeConverseRequest],
};

/** Recorders cut the bytes of media. */
const SHORTENED = /source\.bytes is no base64$/;

/** Every refusal of a recorded request begins with one of these, digits and names aside. */
const REFUSALS: Readonly<Record<string, readonly string[]>> = {
  parse: [
    'background: ',
    'conversation: ',
    'previous_response_id: ',
    'prompt: ',
    // Stored files, which other providers do not have.
    'input.#.content.#.image_url: found nothing',
    'input.#.output.#.image_url: found nothing',
    'input.#.content.#: found neither file_data nor file_url',
    'input.#: found a compaction of another provider',
    'moderation: a policy of mode block',
  ],
  chat: ['input.#: holds a document given as a url', 'tools: found the tool of type'],
  messages: [
    'input.#.content.#: found a file of type application/vnd.openxmlformats',
    'input.#.content: found nothing that can be read',
    'tools.#: a tool of type',
  ],
  gemini: ['input.#.content: found nothing that can be read', 'tools.#: a tool of type'],
  converse: [
    'input.#.content.#: found an address, which Bedrock does not fetch',
    'input.#.content: found nothing that can be read',
    'tools.#: a tool of type',
  ],
};

describe.skipIf(RECORDED_REQUESTS === null)('recorded requests (needs the recordings)', () => {
  test('are legal in every other format, or refused by a listed word that names the member', () => {
    const legal: Record<string, number> = {};
    const isListed = (step: string, words: string) => {
      const shape = words.replaceAll(/\d+/g, '#');
      return REFUSALS[step]?.some((start) => shape.startsWith(start)) === true;
    };
    for (const { id, body } of RECORDED_REQUESTS ?? []) {
      const outline = outlineOf(body);
      const checked = orRefusal(() => responsesClient.checkRequest(outline, CHECK));
      if ('refused' in checked) {
        expect([id, checked.refused]).toEqual([id, expect.stringMatching(/^model: found nothing/)]);
        continue;
      }
      const request = orRefusal(() => responsesClient.parseRequest(outline, startTranslationNotes(false), checked));
      if ('refused' in request) {
        expect([id, request.refused, isListed('parse', request.refused)]).toEqual([id, request.refused, true]);
        continue;
      }
      for (const [to, [model, judge]] of Object.entries(TARGETS)) {
        const written = orRefusal(() => writeRequest(to as 'chat', request, { ...CAPABLE, model }));
        if ('refused' in written) {
          expect([id, to, written.refused, isListed(to, written.refused)]).toEqual([id, to, written.refused, true]);
          continue;
        }
        const faults = judge(JSON.parse(written.json), request.stream).filter((fault) => !SHORTENED.test(fault));
        expect([id, to, faults]).toEqual([id, to, []]);
        legal[to] = (legal[to] ?? 0) + 1;
      }
    }
    for (const to of Object.keys(TARGETS)) expect([to, (legal[to] ?? 0) > 400]).toEqual([to, true]);
  });
});

interface RecordedAnswer {
  readonly id: string;
  readonly events: ReturnType<typeof eventsOfStream>;
  readonly streamed: boolean;
  readonly response: JsonObject;
  /** All text of its messages; refusals apart. */
  readonly text: string;
}

/** The recorded answers of the format that came to their end. */
function recordedAnswers(): RecordedAnswer[] {
  const whole = (RECORDED_ANSWERS ?? []).map(({ id, body }) => ({
    id,
    events: [...responsesUpstream.parseAnswer(Buffer.from(JSON.stringify(body)))],
    streamed: false,
    response: body,
    text: textIn(body),
  }));
  const streams = (RECORDED_STREAMS ?? []).map(({ id, body }) => {
    const recorded = recordedEvents(body);
    const response = asObject(recorded.findLast((event) => event.response !== undefined)?.response) ?? {};
    // Some recorders left out deltas in the middle.
    const deltas = recorded.filter(({ type }) => type === 'response.output_text.delta').map(({ delta }) => delta);
    const text = deltas.length === 0 ? textIn(response) : deltas.join('');
    return { id, events: eventsOfStream('responses', [Buffer.from(body)]), streamed: true, response, text };
  });
  return [...whole, ...streams].filter(({ events }) => events.at(-1)?.kind === 'end');
}

const tight = (text: string) => text.replaceAll(/\s+/g, '');
const itemsIn = (response: JsonObject) => asArray(response.output).map((item) => asObject(item) ?? {});

function textIn(response: JsonObject): string {
  const parts = itemsIn(response).flatMap(({ type, content }) => (type === 'message' ? asArray(content) : []));
  return parts.map((part) => asObject(part)?.text ?? '').join('');
}

/** The names and arguments of the tools that a response calls. Messages have the input of free text as an argument. */
function callsIn(response: JsonObject, format: Format): [unknown, unknown][] {
  return itemsIn(response).flatMap(({ type, name, arguments: written, input }): [unknown, unknown][] => {
    if (type === 'function_call') return [[name, argumentsIn(written)]];
    return type === 'custom_tool_call' && format === 'messages' ? [[name, { input }]] : [];
  });
}

function refusalIn(response: JsonObject): string {
  const parts = itemsIn(response).flatMap(({ content }) => asArray(content));
  return parts.map((part) => asObject(part)?.refusal ?? '').join('');
}

/** Parsed; the text itself where the answer was cut within it. */
function argumentsIn(written: unknown): unknown {
  try {
    return JSON.parse(String(written) || '{}');
  } catch {
    return written;
  }
}

const ANSWERS = recordedAnswers();

describe.skipIf(ANSWERS.length === 0)('recorded answers of the format (needs the recordings)', () => {
  test('there are hundreds, of both kinds', () => {
    for (const kind of [true, false])
      expect(ANSWERS.filter(({ streamed }) => streamed === kind).length).toBeGreaterThan(40);
    expect(ANSWERS.length).toBeGreaterThan(450);
  });

  describe.each(['chat', 'messages'] as const)('reach clients of %s', (format) => {
    test('in the order of the format, with every word and call', async () => {
      for (const [index, { id, events, response, text: said }] of ANSWERS.entries()) {
        const stream = streamFor(format, events);
        if (index % CLIENT_STRIDE !== 0 && itemsIn(response).length < 4) continue;
        const { answer } = await readByClient(format, { request: REQUEST[format], answer: stream, streamed: true });
        const { text, calls } = readingOf(format, answer);
        // Messages have no place for refusals but the text.
        const wanted = format === 'messages' && said === '' ? refusalIn(response) : said;
        expect([id, tight(text)]).toEqual([id, tight(wanted)]);
        if (response.status === 'completed') expect([id, calls]).toEqual([id, callsIn(response, format)]);
      }
    }, 60_000);
  });
});

const REQUEST: Readonly<Record<Format, string>> = {
  chat: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'a' }], stream: true }),
  messages: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'a' }], max_tokens: 9, stream: true }),
};

/** The text and the calls of functions as an official client has them. */
function readingOf(format: Format, answer: Json): { text: string; calls: [unknown, unknown][] } {
  if (format === 'chat') {
    const message = asObject(asObject(asArray(answer.choices)[0])?.message) ?? {};
    const calls = asArray(message.tool_calls).flatMap((call): [unknown, unknown][] => {
      const called = asObject(asObject(call)?.function);
      return called === null ? [] : [[called.name, argumentsIn(called.arguments)]];
    });
    return { text: String(message.content ?? ''), calls };
  }
  const blocks = asArray(answer.content).map((block) => asObject(block) ?? {});
  return {
    text: blocks.map(({ type, text }) => (type === 'text' ? text : '')).join(''),
    calls: blocks.flatMap(({ type, name, input }): [unknown, unknown][] =>
      type === 'tool_use' ? [[name, input]] : [],
    ),
  };
}

describe.each(exchangeSets())('answers of chat and messages in $name', ({ exchanges }) => {
  const answers = exchanges
    .filter(({ status }) => status === 200)
    .flatMap((exchange) => {
      const events = eventsOf(exchange);
      return events.at(-1)?.kind === 'end' ? [{ id: exchange.id, events }] : [];
    });

  test('reach Responses clients in the order of the format, streamed as in one piece', () => {
    expect(answers.length).toBeGreaterThan(30);
    for (const { id, events } of answers) {
      const renderer = responsesClient.startStreamRenderer(CONTEXT);
      const text = events.map((event) => renderer.push(event)).join('');
      expect([id, renderer.violation, violationOf(text)]).toEqual([id, null, null]);
      const streamed = asObject(recordedEvents(text).at(-1)?.response) ?? {};
      const plain = JSON.parse(responsesClient.renderAnswer(foldGeneration(events), CONTEXT).json);
      expect([id, textIn(streamed), streamed.status]).toEqual([id, textIn(plain), plain.status]);
    }
  });

  test("are read by OpenAI's stream helper", async () => {
    for (const [index, { id, events }] of answers.entries()) {
      if (index % CLIENT_STRIDE !== 0) continue;
      const renderer = responsesClient.startStreamRenderer(CONTEXT);
      const text = events.map((event) => renderer.push(event)).join('');
      const headers = { 'content-type': 'text/event-stream' };
      const client = new OpenAI({ apiKey: 'none', maxRetries: 0, fetch: async () => new Response(text, { headers }) });
      const final = await client.responses.stream({ model: 'm', input: 'a' }).finalResponse();
      const wanted = asObject(recordedEvents(text).at(-1)?.response) ?? {};
      expect([id, final.status as string, final.output_text]).toEqual([id, String(wanted.status), textIn(wanted)]);
    }
  }, 60_000);
});
