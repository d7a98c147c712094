/**
 * Tests what every client library must be able to do through the gateway, on each kind of upstream. Independent of any
 * library.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { rejection } from '../e2e/sdk-rig.ts';
import type { ClientFormat } from '../fake-upstream/protocol.ts';
import type { Scenario } from '../fake-upstream/scenario.ts';
import { eventually } from '../harness/eventually.ts';
import type { Pair } from '../harness/start-pair.ts';
import { holdChatRequest } from './chat-request-shape.ts';
import type { ClientAnswer, ClientDriver, Target } from './client-driver.ts';
import { bodyOf, ROUTES, type Route, type SpokenFormat, startClientsRig } from './clients-rig.ts';
import { type DriverFile, installationOf, loadDrivers } from './installed-clients.ts';
import { holdMessagesRequest } from './messages-request-shape.ts';
import { receivedIn } from './received-conversation.ts';

const QUESTION = 'What is the weather in Zürich, in Oslo and in Lima?';
const TEXT = 'Sunny 🌞 in each of the three, whatever the season.';
/** As the fake upstream splits it, seven characters at a time. */
const PIECES = Math.ceil([...TEXT].length / 7);

const weather = (id: string, city: string) => ({ id, name: 'get_weather', input: { city } });
/** Two parallel tool calls after text and reasoning, then a single one, then the answer. */
const LOOP: readonly Scenario[] = [
  {
    say: {
      reasoning: 'Two at once.',
      text: 'I look.',
      calls: [weather('call_1', 'Zürich'), weather('call_2', 'Oslo')],
    },
  },
  { say: { calls: [weather('call_3', 'Lima')] } },
  { say: { text: TEXT } },
];

/** Each format's upstream error for a prompt that is too long. */
const TOO_LONG: Readonly<Record<ClientFormat, object>> = {
  'chat-completions': {
    error: {
      message: "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
      type: 'invalid_request_error',
      param: 'messages',
      code: 'context_length_exceeded',
    },
  },
  messages: {
    type: 'error',
    error: { type: 'invalid_request_error', message: 'prompt is too long: 9000 tokens > 8192 maximum' },
  },
  responses: {
    error: {
      message: 'Your input exceeds the context window of this model. Please adjust your input and try again.',
      type: 'invalid_request_error',
      param: 'input',
      code: 'context_length_exceeded',
    },
  },
};

/** The words that clients of each format look for. */
const WORDING: Readonly<Record<SpokenFormat, RegExp>> = {
  'chat-completions': /maximum context length/,
  messages: /prompt is too long/,
  responses: /context length|context window/,
  gemini: /exceeds the maximum number of tokens/,
};

/** The record's word for each format. */
const PROTOCOL: Readonly<Record<SpokenFormat, string>> = {
  gemini: 'gemini',
  'chat-completions': 'chat',
  messages: 'messages',
  responses: 'responses',
};

/** The members by which each format asks for a schema. */
const SCHEMA_MEMBERS: Readonly<Record<ClientFormat, object>> = {
  'chat-completions': { response_format: { type: 'json_schema' } },
  messages: { output_config: { format: { type: 'json_schema' } } },
  responses: { text: { format: { type: 'json_schema' } } },
};

function holdRequest(route: Route, body: unknown): void {
  if (!route.translated) return;
  if (route.upstream === 'messages') holdMessagesRequest(body);
  else if (route.upstream === 'chat-completions') holdChatRequest(body);
}

/** Tests one library. `speaks` is its format; the routes are that format's. */
export function clientSuite(file: DriverFile, name: string, speaks: SpokenFormat): void {
  const { isInstalled, needs } = installationOf(file);
  describe.skipIf(!isInstalled)(`${name} ${needs}`, () => {
    let pair: Pair;
    let driver: ClientDriver;
    beforeAll(async () => {
      const found = (await loadDrivers(file))[name];
      if (found === undefined) throw new Error(`${file}.ts exports no driver ${name}`);
      driver = found;
      pair = await startClientsRig();
    });
    beforeEach(() => pair.fake.reset());
    afterAll(() => pair?.stop());

    for (const route of ROUTES[speaks]) {
      const target = (): Target => ({ url: pair.gateway.url, key: pair.gateway.key, model: route.model });
      const script = (scenario: Scenario | readonly Scenario[]) => pair.fake.script(route.upstreamModel, scenario);
      /** Returns the bodies that upstream received; those that the gateway wrote are checked against their format. */
      const sentBodies = (): unknown[] => {
        const bodies = pair.fake.served(route.upstreamModel).map(bodyOf);
        for (const body of bodies) holdRequest(route, body);
        return bodies;
      };
      const expectAnswer = (answer: ClientAnswer, reasoningPieces: number): void => {
        expect(answer.text).toBe(TEXT);
        expect(answer.finishReason).toBe(driver.finished);
        expect(answer.outputTokens).toBe(PIECES + reasoningPieces);
      };

      describe(`${route.translated ? 'translated' : 'native'}: ${route.model} at ${route.upstream}`, () => {
        test('an answer in one piece, its counts and its record', async () => {
          script({ say: { text: TEXT, cacheReadTokens: 5 } });
          const answer = await driver.ask(target(), QUESTION);
          expectAnswer(answer, 0);
          expect(answer).toMatchObject({ inputTokens: 16, cacheReadTokens: 5 });
          const [body] = sentBodies();
          expect(receivedIn(route.upstream, body)).toEqual([{ role: 'user', text: QUESTION }]);
          expect(body).toMatchObject({ model: route.upstreamModel });
          const record = await eventually('the record', async () => (await pair.gateway.calls('--limit', '1'))[0]);
          expect(record).toMatchObject({
            model: route.model,
            protocol: PROTOCOL[speaks],
            status: 200,
            usage: { input: 11, cache_read: 5, output: PIECES },
            usage_source: 'upstream',
          });
        });

        test('a stream, piece by piece, and its counts', async () => {
          script({ say: { text: TEXT, cacheReadTokens: 5 } });
          const { pieces, ...answer } = await driver.askStreamed(target(), QUESTION);
          expect(pieces.join('')).toBe(TEXT);
          expect(pieces.length).toBe(PIECES);
          sentBodies();
          if (!driver.countsAtStart) {
            expectAnswer(answer, 0);
            expect(answer).toMatchObject({ inputTokens: 16, cacheReadTokens: 5 });
          } else if (route.translated) {
            // Upstream's count comes after the start, which has an estimate.
            expectAnswer(answer, 0);
            expect(answer.inputTokens).toBeGreaterThan(0);
          } else {
            // Upstream's start reports one output token, and this library adds it to the final count.
            expectAnswer({ ...answer, outputTokens: (answer.outputTokens ?? 0) - 1 }, 0);
            expect(answer).toMatchObject({ inputTokens: 16, cacheReadTokens: 5 });
          }
        });

        for (const streamed of [false, true]) {
          const form = streamed ? ', streamed' : '';

          test(`reasoning before the answer${form}`, async () => {
            script({ say: { reasoning: 'Three cities.', text: TEXT } });
            const answer = await (streamed ? driver.askStreamed : driver.ask)(target(), QUESTION);
            expect(answer.text).toBe(TEXT);
            expect(answer.reasoning).toBe(driver.readsReasoning ? 'Three cities.' : '');
          });

          test(`a loop of tools, in parallel and one after another${form}`, async () => {
            script(LOOP);
            const { text, cities, steps } = await driver.runTools(target(), QUESTION, streamed);
            expect({ text, steps }).toEqual({ text: TEXT, steps: 3 });
            expect([...cities].sort()).toEqual(['Lima', 'Oslo', 'Zürich']);
            expect(pair.fake.served(route.upstreamModel).map(({ stream }) => stream)).toEqual(Array(3).fill(streamed));
            const id = (number: number) => `${route.upstream === 'messages' ? 'toolu' : 'call'}_${number}`;
            const call = (number: number, city: string) => ({ call: id(number), name: 'get_weather', input: { city } });
            const result = (number: number, city: string) => ({ result: id(number), text: `sunny in ${city}` });
            expect(receivedIn(route.upstream, sentBodies().at(-1))).toEqual([
              { role: 'user', text: QUESTION },
              { role: 'assistant', text: 'I look.' },
              call(1, 'Zürich'),
              call(2, 'Oslo'),
              result(1, 'Zürich'),
              result(2, 'Oslo'),
              call(3, 'Lima'),
              result(3, 'Lima'),
            ]);
          });
        }

        test('an object of a schema that was asked for', async () => {
          const place = { city: 'Zürich', degrees: 21 };
          script({ say: { text: JSON.stringify(place) } });
          expect(await driver.fillSchema(target(), QUESTION)).toEqual(place);
          const [body] = sentBodies();
          expect(body).toMatchObject(SCHEMA_MEMBERS[route.upstream]);
          expect(JSON.stringify(body)).toContain('"degrees"');
        });

        test('a prompt that is too long is refused in the words that the client looks for', async () => {
          script({ status: 400, json: TOO_LONG[route.upstream] });
          const error = await rejection(driver.ask(target(), QUESTION));
          expect(String(error)).toMatch(WORDING[speaks]);
          expect(driver.seesOverflow(error)).toBe(true);
        });

        test('a stream that upstream cuts is an error, never a quiet end', async () => {
          script({ answer: 'long:200', cut: { at: 6_000, how: 'fin' } });
          expect(await rejection(driver.askStreamed(target(), QUESTION))).toBeInstanceOf(Error);
          expect(pair.fake.served(route.upstreamModel).map(({ finished }) => finished)).toEqual(['cut']);
        });
      });
    }
  });
}
