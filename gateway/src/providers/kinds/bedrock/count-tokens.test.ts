/** Tests counts of tokens at Bedrock: which service is asked, in which form, and which refusals leave it to the gateway. */
import { beforeEach, describe, expect, test } from 'bun:test';
import { Secret } from '../../../lib/secret.ts';
import type { ResponseHead } from '../../../upstream/response-head.ts';
import { FakeSurroundings } from '../../credentials/testing/fake-surroundings.ts';
import type { AttemptTools, HeaderLine, Settings } from '../../provider.ts';
import { createBedrock } from '../bedrock.ts';

const VERSIONED = 'us.anthropic.claude-haiku-4-5-20251001-v1:0';
const PROFILE = 'eu.anthropic.claude-opus-4-8';
const BARE = 'anthropic.claude-opus-4-8';
const NOVA = 'amazon.nova-pro-v1:0';
const MANTLE = '/anthropic/v1/messages/count_tokens';
const runtimeOf = (id: string) => `/model/${encodeURIComponent(id)}/count-tokens`;
/** The memory of refusals is kept by credential. */
const SECRETS = { access_key_id: new Secret('AKIA1'), secret_access_key: new Secret('canary-1') };
const HOUR_MS = 3_600_000;

interface Played {
  readonly status: number;
  readonly exception?: string;
  /** Null: the connection is refused. */
  readonly body: object | null;
}

const refusal = (status: number, exception: string, message: string): Played => ({
  status,
  exception,
  body: { message },
});
const NOT_HERE = refusal(400, 'ValidationException', "The provided model doesn't support counting tokens.");
const COUNTED: Played = { status: 200, body: { inputTokens: 42 } };

let surroundings: FakeSurroundings;
let kind: ReturnType<typeof createBedrock>;
let asked: { readonly path: string; readonly body: string }[];
let play: (path: string) => Played;

beforeEach(() => {
  surroundings = new FakeSurroundings();
  kind = createBedrock(surroundings);
  asked = [];
  play = () => COUNTED;
});

interface Given {
  readonly settings?: Settings;
  readonly body?: string;
  readonly headers?: readonly HeaderLine[];
}

/** Counts at a provider that answers as `play` says; null: the exchange failed. */
function count(model: string, given: Given = {}) {
  const { settings = {}, body = `{"model":"${model}","messages":[]}`, headers = [] } = given;
  const [protocol = 'messages'] = kind.protocolsOf?.(model, settings) ?? [];
  const tools: AttemptTools = {
    key: model,
    model,
    responseBytesMax: 100_000,
    credential: {
      secrets: SECRETS,
      source: null,
      settings: { region: 'eu-central-1', ...settings },
      hide: () => undefined,
    },
    send: (door, request) => {
      const prepared = door.prepare?.(request, model, settings) ?? request;
      const path = door.endpoint(protocol, 'count_tokens', model, settings) ?? 'none';
      asked.push({ path, body: Buffer.from(prepared.body).toString() });
      const { status, exception, body: answer } = play(path);
      const named: HeaderLine[] = exception === undefined ? [] : [['x-amzn-errortype', exception]];
      const head: ResponseHead = { status, headers: named, framing: 'close', lengthBytes: 0, keepAlive: false };
      return (listener) => {
        queueMicrotask(() => {
          if (answer === null) {
            listener.onFailure({ kind: 'connect', message: 'refused', sent: false, stale: false });
            return;
          }
          listener.onHead(head);
          listener.onBody(Buffer.from(JSON.stringify(answer)));
          listener.onEnd();
        });
        return { sentAtMs: 0, headAtMs: 0, lastByteAtMs: 0, pause() {}, resume() {}, abort() {} };
      };
    },
  };
  const request = {
    protocol,
    operation: 'count_tokens',
    headers,
    body: Buffer.from(body),
    answers: 1,
    requestId: 'req_1',
    atMs: 0,
  } as const;
  const { promise, resolve } = Promise.withResolvers<{ status: number; text: string } | null>();
  let status = 0;
  let text = '';
  const tap = kind.openAttempt?.(request, tools, {
    onHead: (head) => {
      status = head.status;
    },
    onBody: (span) => {
      text += Buffer.from(span).toString();
    },
    onEnd: () => resolve({ status, text }),
    onFailure: () => resolve(null),
  });
  expect(tap).toBeDefined();
  return promise;
}

const paths = () => asked.map(({ path }) => path);

describe('a count of Claude at the runtime service', () => {
  test('is that of the foundation model, of a body for InvokeModel with an output limit, in the words of Anthropic', async () => {
    const settings = { guardrail_id: 'g1', guardrail_version: '1' };
    expect(await count(VERSIONED, { settings })).toEqual({ status: 200, text: '{"input_tokens":42}' });
    expect(paths()).toEqual([runtimeOf('anthropic.claude-haiku-4-5-20251001-v1:0')]);
    const { input } = JSON.parse(asked[0]?.body ?? '');
    expect(Object.keys(input)).toEqual(['invokeModel']);
    expect(Buffer.from(input.invokeModel.body, 'base64').toString()).toBe(
      '{"messages":[],"anthropic_version":"bedrock-2023-05-31","max_tokens":1}',
    );
  });

  test('has room for its budget of thinking, and its betas', async () => {
    const body = '{"model":"x","thinking":{"type":"enabled","budget_tokens":2048},"messages":[]}';
    await count(VERSIONED, { body, headers: [['anthropic-beta', 'context-1m-2025-08-07']] });
    expect(
      JSON.parse(Buffer.from(JSON.parse(asked[0]?.body ?? '').input.invokeModel.body, 'base64').toString()),
    ).toMatchObject({ max_tokens: 2049, anthropic_beta: ['context-1m-2025-08-07'] });
  });

  test.each([
    'arn:aws:bedrock:eu-central-1:123456789012:inference-profile/eu.anthropic.claude-haiku-4-5-20251001-v1:0',
    'arn:aws:bedrock:eu-central-1::foundation-model/anthropic.claude-haiku-4-5-20251001-v1:0',
  ])('of %s is by the id at its end', async (arn) => {
    await count(arn);
    expect(paths()).toEqual([runtimeOf('anthropic.claude-haiku-4-5-20251001-v1:0')]);
  });

  test('without a number is left to the gateway', async () => {
    play = () => ({ status: 200, body: { tokens: 42 } });
    expect(await count(VERSIONED)).toEqual({ status: 501, text: '' });
  });
});

describe('a model that the service does not count', () => {
  test('is counted at Mantle under its bare id, and at once for an hour', async () => {
    play = (path) => (path === MANTLE ? { status: 200, body: { input_tokens: 7 } } : NOT_HERE);
    for (const expected of [[runtimeOf(BARE), MANTLE], [MANTLE]]) {
      asked = [];
      expect(await count(PROFILE)).toEqual({ status: 200, text: '{"input_tokens":7}' });
      expect([paths(), JSON.parse(asked.at(-1)?.body ?? '').model]).toEqual([expected, BARE]);
    }
    asked = [];
    surroundings.now += HOUR_MS;
    await count(PROFILE);
    expect(paths()).toEqual([runtimeOf(BARE), MANTLE]);
  });

  test('is counted at the runtime service where Mantle has no counter or no connection', async () => {
    for (const played of [refusal(404, '', 'no'), refusal(401, '', 'no'), { status: 0, body: null }]) {
      kind = createBedrock(surroundings);
      asked = [];
      play = (path) => (path === MANTLE ? played : COUNTED);
      expect(await count(BARE)).toEqual({ status: 200, text: '{"input_tokens":42}' });
      expect(paths()).toEqual([MANTLE, runtimeOf(BARE)]);
    }
  });

  test.each([
    ['runtime', [runtimeOf(BARE)]],
    ['mantle', [MANTLE]],
  ] as const)('stays at the service of the setting: %s', async (door, expected) => {
    play = () => NOT_HERE;
    expect(await count(PROFILE, { settings: { door } })).toEqual({ status: 501, text: '' });
    expect(paths()).toEqual([...expected]);
  });

  test('is left to the gateway where no service can be reached, and asked for again', async () => {
    play = () => ({ status: 0, body: null });
    for (const asks of [1, 2]) {
      expect(await count(VERSIONED)).toEqual({ status: 501, text: '' });
      expect(asked).toHaveLength(asks);
    }
  });

  test.each([
    NOT_HERE,
    refusal(400, 'ValidationException', 'The provided model identifier is invalid.'),
    refusal(403, 'AccessDeniedException', 'User: x is not authorized to perform: bedrock:CountTokens'),
    refusal(404, 'ResourceNotFoundException', 'no'),
  ])('is left to the gateway after %j, unasked for an hour', async (played) => {
    play = () => played;
    expect(await count(VERSIONED)).toEqual({ status: 501, text: '' });
    surroundings.now += HOUR_MS - 1;
    expect(await count(VERSIONED)).toEqual({ status: 501, text: '' });
    expect(asked).toHaveLength(1);
    surroundings.now += 1;
    await count(VERSIONED);
    expect(asked).toHaveLength(2);
  });
});

test.each([
  refusal(400, 'ValidationException', 'messages: odd'),
  refusal(403, 'UnrecognizedClientException', 'The security token is invalid'),
  refusal(429, 'ThrottlingException', 'Too many requests'),
])('the refusal %j reaches the caller, and the next count asks again', async (played) => {
  play = () => played;
  for (const asks of [1, 2]) {
    expect((await count(VERSIONED))?.status).toBe(played.status);
    expect(asked).toHaveLength(asks);
  }
});

describe('a model of another vendor', () => {
  test('is counted in the form that its format renders', async () => {
    expect(await count(NOVA, { body: '{"input":{"converse":{"messages":[]}}}' })).toEqual({
      status: 200,
      text: '{"inputTokens":42}',
    });
    expect(asked).toEqual([{ path: runtimeOf(NOVA), body: '{"input":{"converse":{"messages":[]}}}' }]);
  });

  test('whose address names no foundation model is not counted', async () => {
    const arn = 'arn:aws:bedrock:eu-central-1:123456789012:application-inference-profile/abc123';
    expect(await count(arn)).toEqual({ status: 501, text: '' });
    expect(asked).toEqual([]);
  });
});
