/**
 * Tests every error status of an upstream, in both protocols, plain and streamed, through a running gateway: contract
 * 5.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Scenario } from '../fake-upstream/scenario.ts';
import { pointAt } from '../harness/point-at.ts';
import type { CallLine } from '../harness/start-gateway.ts';
import { type Pair, startPair } from '../harness/start-pair.ts';

const LAB_KEY = 'lab-credential-55bb';
const STATUSES = [400, 401, 402, 403, 404, 405, 408, 409, 413, 418, 422, 429, 500, 502, 503, 504, 520, 529];
const AS_IT_CAME = [400, 404, 413, 422];
/** Our account, or our address of the provider: a repetition does not help. */
const OURS = [401, 402, 403, 405];
const PROTOCOLS = ['chat', 'messages'] as const;
type Protocol = (typeof PROTOCOLS)[number];
let pair: Pair;

const DELAYS: ReadonlyArray<readonly [string, string]> = [
  ['0', '1'],
  ['2.5', '3'],
  ['61', '60'],
  ['soon', '5'],
  ['-1', '5'],
  ['Wed, 21 Oct 2099 07:28:00 GMT', '60'],
];
const HOLLOW: ReadonlyArray<readonly [string, Scenario]> = [
  ['empty', { hollow: true }],
  ['no-json', { body: '<html>busy</html>' }],
  ['no-answer', { json: { object: 'list' } }],
  ['array', { json: [1] }],
  ['unknown-encoding', { json: {}, headers: { 'content-encoding': 'zstd' } }],
];

/** A model for each condition, because a failure switches off its credential or its target. */
function models(protocol: Protocol): string[] {
  const statuses = STATUSES.flatMap((status) => [`${status}-false`, `${status}-true`]);
  const delays = DELAYS.map(([given]) => delayed(given));
  return [...statuses, ...delays, ...HOLLOW.map(([name]) => name), '400'].map((name) => `${protocol}-${name}`);
}

function delayed(given: string): string {
  return `delay-${given.replace(/\W/g, '')}-${given.length}`;
}

beforeAll(async () => {
  const parts = { apiKey: LAB_KEY, apart: true, routing: { max_extra_attempts: 0 } } as const;
  pair = await startPair((fakeUrl) =>
    pointAt(fakeUrl, { ...parts, chat: models('chat'), messages: models('messages') }),
  );
});
afterAll(() => pair.stop());

async function ask(protocol: Protocol, model: string, stream: boolean) {
  const body = { model, max_tokens: 5, stream, messages: [{ role: 'user', content: 'hi' }] };
  const path = protocol === 'chat' ? '/v1/chat/completions' : '/v1/messages';
  const response = await fetch(`${pair.gateway.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${pair.gateway.key}` },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, id: response.headers.get('x-request-id') ?? '' };
}

function wantedStatus(protocol: Protocol, status: number): number {
  if (AS_IT_CAME.includes(status) || status === 429) return status;
  if (protocol === 'messages' && (status === 504 || status === 529)) return status;
  return protocol === 'messages' && status === 408 ? 504 : 500;
}

function wantedType(protocol: Protocol, status: number): string {
  if (status === 429) return 'rate_limit_error';
  if (protocol === 'messages' && status === 504) return 'timeout_error';
  return protocol === 'messages' && status === 529 ? 'overloaded_error' : 'api_error';
}

/** SDKs repeat a 500 that a fault of upstream's caused, so it names a delay; one of the operator's account does not. */
function wantedDelay(status: number): string | null {
  if (status === 429) return '60';
  return AS_IT_CAME.includes(status) || OURS.includes(status) ? null : '5';
}

interface Asked extends Awaited<ReturnType<typeof ask>> {
  readonly record: CallLine | undefined;
}

/** Sends one call per scenario sequentially, then looks up all records at once, because each look-up is a process. */
async function askAll(protocol: Protocol, asks: ReadonlyArray<readonly [string, Scenario, boolean]>): Promise<Asked[]> {
  const answers = [];
  for (const [model, scenario, stream] of asks) {
    pair.fake.script(model, scenario);
    answers.push(await ask(protocol, model, stream));
  }
  const records = new Map((await pair.gateway.calls()).map((record) => [record.request_id, record]));
  return answers.map((answer) => ({ ...answer, record: records.get(answer.id) }));
}

describe.each([...PROTOCOLS])('an upstream’s refusal of a call of %s', (protocol) => {
  const body = `{ "error" : {"message":"no é", "type":"made_up" } }\n`;
  const headers = { 'retry-after': '3600', 'x-ratelimit-limit-requests': '7' };

  test.each([false, true])(
    'of any status becomes what the contract says, with a record (stream: %p)',
    async (stream) => {
      const asks = STATUSES.map(
        (status) => [`${protocol}-${status}-${stream}`, { status, body, headers }, stream] as const,
      );
      const answers = await askAll(protocol, asks);
      const found = answers.map(({ status, text, headers: got, id, record }) => ({
        status,
        body: status >= 500 || status === 429 ? JSON.parse(text).error.type : text,
        namesRequest: text.includes(id),
        retryAfter: got.get('retry-after'),
        upstreamsLimit: got.get('x-ratelimit-limit-requests') === '7',
        record: [record?.status, record?.stream, record?.cost_nano_usd, record?.usage_source],
        error: record?.error?.startsWith('upstream_'),
      }));
      const wanted = STATUSES.map((status) => {
        const answered = wantedStatus(protocol, status);
        return {
          status: answered,
          body: AS_IT_CAME.includes(status) ? body : wantedType(protocol, answered),
          namesRequest: answered >= 500 || (protocol === 'messages' && answered === 429),
          retryAfter: wantedDelay(status),
          upstreamsLimit: false,
          record: [answered, stream, '0', 'void'],
          error: true,
        };
      });
      expect(found).toEqual(wanted);
    },
  );

  test.each([...DELAYS])('a retry-after of %p becomes %p', async (given, wanted) => {
    const model = `${protocol}-${delayed(given)}`;
    pair.fake.script(model, { status: 429, headers: { 'retry-after': given } });
    expect((await ask(protocol, model, false)).headers.get('retry-after')).toBe(wanted);
  });

  test('an error body is scrubbed of our credential and of account names, and of nothing else', async () => {
    const body = `{"error":{"message":"key ${LAB_KEY} of org-Ab12Cd34Ef56 (project proj_9x8y7z6w5v4u) may not; user_preferences is wrong"}}`;
    pair.fake.script(`${protocol}-400`, { status: 400, body });
    const { text } = await ask(protocol, `${protocol}-400`, false);
    expect(text).toBe(
      '{"error":{"message":"key [redacted] of [redacted] (project [redacted]) may not; user_preferences is wrong"}}',
    );
  });

  test('a 200 that is no answer is a fault of upstream’s, plain and streamed', async () => {
    const asks = HOLLOW.flatMap(([name, scenario]) =>
      [false, true].map((on) => [`${protocol}-${name}`, scenario, on] as const),
    );
    const found = (await askAll(protocol, asks)).map(({ status, text, record }) => {
      return [status, JSON.parse(text).error.type, /^upstream_(?:malformed|truncated)$/.test(record?.error ?? '')];
    });
    expect(found).toEqual(asks.map(() => [500, 'api_error', true]));
  });

  test('an empty 400 gets a message of the gateway', async () => {
    pair.fake.script(`${protocol}-400`, { status: 400, hollow: true });
    const { status, text } = await ask(protocol, `${protocol}-400`, false);
    expect(status).toBe(400);
    expect(JSON.parse(text).error).toMatchObject({
      type: 'invalid_request_error',
      message: expect.stringContaining('400'),
    });
  });
});
