/** Tests hosted/attempt.ts: a new token after a 401, betas that a host does not know, and errors in Anthropic's shape. */
import { describe, expect, test } from 'bun:test';
import type { ResponseHead } from '../../upstream/response-head.ts';
import type { OpenExchange } from '../exchanges/chained-exchange.ts';
import type { UpstreamRequest } from '../provider.ts';
import { BetaMemory, openHostedAttempt } from './attempt.ts';

interface Played {
  readonly status: number;
  readonly body: object;
}

const OK: Played = { status: 200, body: { ok: true } };
const UNKNOWN = (...betas: readonly string[]): Played => ({
  status: 400,
  body: {
    type: 'error',
    error: {
      type: 'invalid_request_error',
      message: `Unexpected value(s) ${betas.map((beta) => `\`${beta}\``).join(', ')} for the \`anthropic-beta\` header. Please consult our documentation.`,
    },
  },
});

/** Runs one attempt whose exchanges get the answers in order. */
function run(
  answers: readonly Played[],
  given: {
    betas?: string;
    protocol?: 'chat';
    renews?: boolean;
    memory?: BetaMemory;
    body?: object;
    marksBlocksOnly?: boolean;
    strict?: boolean;
  },
) {
  const sent: Array<string | null> = [];
  const bodies: unknown[] = [];
  const left = [...answers];
  const open = (request: UpstreamRequest): OpenExchange => {
    sent.push(request.headers.find(([name]) => name === 'anthropic-beta')?.[1] ?? null);
    if (given.body !== undefined) bodies.push(JSON.parse(Buffer.from(request.body).toString()));
    return (listener) => {
      const { status, body } = left.shift() ?? { status: 599, body: {} };
      const head: ResponseHead = { status, headers: [], framing: 'close', lengthBytes: 0, keepAlive: false };
      listener.onHead(head);
      listener.onBody(Buffer.from(JSON.stringify(body)));
      listener.onEnd();
      return { pause: () => undefined } as never;
    };
  };
  const told: { status: number; body: unknown } = { status: 0, body: null };
  const headers = given.betas === undefined ? [] : [['anthropic-beta', given.betas] as const];
  const body = Buffer.from(JSON.stringify(given.body ?? {}));
  const request = {
    protocol: given.protocol ?? 'messages',
    headers,
    body,
    strict: given.strict,
  } as unknown as UpstreamRequest;
  const { renews = false, memory = new BetaMemory(), marksBlocksOnly = false } = given;
  const chain = openHostedAttempt(
    { request, marksBlocksOnly, key: 'k', open, renew: ({ head }) => head.status === 401 && renews, memory },
    {
      onHead: ({ status }) => {
        told.status = status;
      },
      onBody: (bytes) => {
        told.body = JSON.parse(Buffer.from(bytes).toString());
      },
      onEnd: () => undefined,
      onFailure: () => undefined,
    },
  );
  return { ...told, sent, dropped: chain.dropped, ...(given.body !== undefined && { bodies }) };
}

describe('an attempt at a host', () => {
  test('passes an answer as it comes', () => {
    expect(run([OK], { betas: 'a,b' })).toEqual({ status: 200, body: { ok: true }, sent: ['a,b'], dropped: [] });
  });

  test('goes out once more with a new token after a 401, if another one can help', () => {
    const refused = { status: 401, body: { error: { code: 401, message: 'expired', status: 'UNAUTHENTICATED' } } };
    expect(run([refused, OK], { renews: true })).toMatchObject({ status: 200, sent: [null, null] });
    expect(run([refused, refused, OK], { renews: true })).toMatchObject({ status: 401, sent: [null, null] });
    expect(run([refused, OK], {})).toMatchObject({ status: 401, sent: [null] });
    expect(run([refused, OK], { protocol: 'chat', renews: true })).toMatchObject({ status: 200 });
  });

  test('goes out once more without the betas that are refused, which are named and remembered', () => {
    const memory = new BetaMemory();
    expect(run([UNKNOWN('b', 'c'), OK], { betas: 'a,b,c', memory })).toMatchObject({
      status: 200,
      sent: ['a,b,c', 'a'],
      dropped: ['anthropic-beta.b', 'anthropic-beta.c'],
    });
    expect(run([OK], { betas: 'b', memory })).toMatchObject({ sent: [null], dropped: ['anthropic-beta.b'] });
    expect(run([UNKNOWN('a'), UNKNOWN('d'), OK], { betas: 'a,d', memory })).toMatchObject({
      status: 400,
      sent: ['a,d', 'd'],
    });
  });

  test.each([
    ['its beta', UNKNOWN('prompt-caching-scope-2026-01-05')],
    [
      'it',
      {
        status: 400,
        body: {
          type: 'error',
          error: {
            type: 'invalid_request_error',
            message: 'system.0.cache_control.ephemeral.scope: Extra inputs are not permitted',
          },
        },
      },
    ],
  ])('leaves the scope of cache marks out where the host refuses %s', (_refused, refusal) => {
    const memory = new BetaMemory();
    const betas = 'a,prompt-caching-scope-2026-01-05';
    const text = (mark: object) => ({ type: 'text', text: 'hi', cache_control: mark });
    const body = { system: [text({ type: 'ephemeral', scope: 'global', ttl: '1h' })] };
    const left = { system: [text({ type: 'ephemeral', ttl: '1h' })] };
    const dropped = ['anthropic-beta.prompt-caching-scope-2026-01-05', 'cache_control.scope'];
    expect(run([refusal, OK], { betas, body, memory })).toMatchObject({
      status: 200,
      sent: [betas, 'a'],
      bodies: [body, left],
      dropped,
    });
    expect(run([OK], { betas, body, memory })).toMatchObject({ sent: ['a'], bodies: [left], dropped });
  });

  describe('with a cache mark at the root of its body', () => {
    const mark = { type: 'ephemeral', ttl: '1h' };
    const whole = (content: unknown) => ({ cache_control: mark, messages: [{ role: 'user', content }] });
    const placed = { messages: [{ role: 'user', content: [{ type: 'text', text: 'hi', cache_control: mark }] }] };

    test('gives it to the last block, where the host does not take it', () => {
      const body = whole('hi');
      expect(run([OK], { body, marksBlocksOnly: true })).toMatchObject({ bodies: [placed], dropped: [] });
      expect(run([OK], { body })).toMatchObject({ bodies: [body], dropped: [] });
      const chat = run([OK], { body, marksBlocksOnly: true, protocol: 'chat' });
      expect(chat).toMatchObject({ bodies: [body], dropped: [] });
    });

    test('loses the scope of it too where the host refuses that', () => {
      const betas = 'prompt-caching-scope-2026-01-05';
      const body = { ...whole('hi'), cache_control: { ...mark, scope: 'global' } };
      const { bodies, dropped } = run([UNKNOWN(betas), OK], { betas, body, marksBlocksOnly: true });
      expect([bodies?.[1], dropped]).toEqual([placed, [`anthropic-beta.${betas}`, 'cache_control.scope']]);
    });

    test('drops and names it where no block can have it; a strict key gets a refusal', () => {
      const body = whole([{ type: 'thinking', thinking: 't' }]);
      const { messages } = body;
      const given = { body, marksBlocksOnly: true };
      expect(run([OK], given)).toMatchObject({ bodies: [{ messages }], dropped: ['cache_control'] });
      expect(() => run([OK], { ...given, strict: true })).toThrow(
        'cache_control: the host of this model does not take it',
      );
    });
  });

  test('does not go out again for another refusal', () => {
    const error = { type: 'error', error: { type: 'invalid_request_error', message: 'max_tokens: too large' } };
    expect(run([{ status: 400, body: error }, OK], { betas: 'a' })).toMatchObject({
      status: 400,
      body: error,
      sent: ['a'],
    });
    expect(run([UNKNOWN('other'), OK], { betas: 'a' })).toMatchObject({ status: 400, sent: ['a'] });
  });

  test('tells an error of the host in the shape of Anthropic’s, for messages alone', () => {
    const google = [{ error: { code: 400, message: 'Invalid location', status: 'INVALID_ARGUMENT' } }];
    expect(run([{ status: 400, body: google }], {}).body).toEqual({
      type: 'error',
      error: { type: 'invalid_request_error', message: 'Invalid location', code: 'INVALID_ARGUMENT' },
    });
    expect(run([{ status: 400, body: google }], { protocol: 'chat' }).body).toEqual(google);
    const azure = { error: { code: 'DeploymentNotFound', message: 'The API deployment does not exist.' } };
    expect(run([{ status: 404, body: azure }], {}).body).toEqual({
      type: 'error',
      error: { type: 'not_found_error', message: 'The API deployment does not exist.', code: 'DeploymentNotFound' },
    });
  });
});
