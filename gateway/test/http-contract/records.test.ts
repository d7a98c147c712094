/**
 * Tests that each call with a valid key has exactly one record, however it ends, and that nothing else has one.
 * Contract 5, 8 and 9.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Scenario } from '../fake-upstream/scenario.ts';
import { eventually } from '../harness/eventually.ts';
import type { CallLine } from '../harness/start-gateway.ts';
import { type Pair, startPair } from '../harness/start-pair.ts';
import { type End, leaveInBody, leaveInStream, leaveWaiting, sendLate } from './call-ends.ts';
import { GOOD_MODELS, get, goodBody, post, type Side } from './calls.ts';
import { contractConfig, scriptContractModels } from './contract-config.ts';
import { createKey, type MadeKey } from './make-key.ts';

const SIDES: readonly Side[] = ['chat', 'messages'];
const BODY_MAX = 2 * 1024 * 1024;

/** Behavior of the fake upstream under the model name `faultModel`. */
const FAULTS: Readonly<Record<string, Scenario>> = {
  hollow: { hollow: true },
  'says-400': { status: 400, errorBodyBytes: 100 },
  'says-401': { status: 401, errorBodyBytes: 100 },
  'says-402': { status: 402, errorBodyBytes: 100 },
  'says-403': { status: 403, errorBodyBytes: 100 },
  'says-404': { status: 404, errorBodyBytes: 100 },
  'says-408': { status: 408, errorBodyBytes: 100 },
  'says-413': { status: 413, errorBodyBytes: 100 },
  'says-422': { status: 422, errorBodyBytes: 100 },
  'says-429': { status: 429, errorBodyBytes: 100, headers: { 'retry-after': '7200' } },
  'says-500': { status: 500, errorBodyBytes: 100 },
  'says-503': { status: 503, errorBodyBytes: 100 },
  'says-504': { status: 504, errorBodyBytes: 100 },
  'says-529': { status: 529, errorBodyBytes: 100 },
  'cut-early': { cut: { at: 'before-headers', how: 'rst' } },
  'error-first': { errorEvent: 1 },
  'error-later': { answer: 'long:9', errorEvent: 5 },
  'no-end': { answer: 'long:20', cut: { at: 1_500, how: 'fin' } },
  garbled: { answer: 'long:9', malformedEvent: 6 },
  paced: { answer: 'long:400', delayBetweenEventsMs: 50 },
  silent: { delayBeforeFirstByteMs: 60_000 },
};

const BOTH = [false, true];
/** Each has a provider of its own, because a provider that failed may get no further calls for a time. */
const faultModel = (side: Side, name: string, stream: boolean) => `${side}-${name}${stream ? '-stream' : ''}`;

let pair: Pair;
let keys: Readonly<Record<'bound' | 'scoped' | 'narrow', MadeKey>>;
let records: CallLine[];
const answers = new Map<string, Response | null>();

/** A call, what its client gets (null: it disconnected) and what its record says. */
interface Row {
  readonly name: string;
  readonly side: Side;
  readonly send: () => Promise<Response | null>;
  readonly status: number;
  readonly error: string | null;
  readonly record?: Readonly<Record<string, unknown>>;
}

function rowsOf(side: Side): Row[] {
  const rows: Row[] = [];
  const address = (key?: MadeKey) => ({ url: pair.gateway.url, key: key?.key ?? pair.gateway.key });
  const end = (name: string): End => ({ ...address(), side, headers: { 'x-session-id': `${side} ${name}` } });
  const add = (name: string, [status, error]: readonly [number, string | null], send: Row['send'], record = {}) =>
    rows.push({ name: `${side} ${name}`, side, status, error, send, record });
  const call =
    (name: string, members: object, headers: object = {}, key?: MadeKey) =>
    () =>
      post(address(key), side, goodBody(side, { ...members }), { 'x-session-id': `${side} ${name}`, ...headers });
  const upstream = (name: string, outcome: readonly [number, string | null], stream = false) => {
    const title = `${name}${stream ? ', stream' : ''}`;
    const model = faultModel(side, name, stream);
    add(title, outcome, call(title, { model, stream }), { model, stream });
  };
  const chat = side === 'chat';

  const whole = { finish_reason: chat ? 'stop' : 'end_turn', usage_source: 'upstream' };
  add('good', [200, null], call('good', {}), { ...whole, model: GOOD_MODELS[side], stream: false });
  add('good stream', [200, null], call('good stream', { stream: true }), { ...whole, stream: true });

  const refused = { usage_source: 'void', cost_nano_usd: '0', attempts: [], served_model: null };
  const invalid = [400, 'invalid_request'] as const;
  add('no messages', invalid, call('no messages', { messages: undefined }), refused);
  add('content type', invalid, call('content type', {}, { 'content-type': 'text/plain' }), { ...refused, model: null });
  add('no JSON', invalid, () => post(address(), side, '{', { 'x-session-id': `${side} no JSON` }), refused);
  add('coding', [415, 'encoding_unsupported'], call('coding', {}, { 'content-encoding': 'br' }), refused);
  add('too large', [413, 'body_too_large'], call('too large', { padding: 'p'.repeat(BODY_MAX) }), refused);
  add('over capacity', [503, 'over_capacity'], call('over capacity', { padding: 'p'.repeat(BODY_MAX / 2) }), refused);
  add('too late', [408, 'body_timeout'], () => sendLate(end('too late')), refused);
  add('unknown model', [chat ? 403 : 404, 'model_unknown'], call('unknown model', { model: 'none' }), {
    ...refused,
    model: 'none',
  });
  add(
    'other endpoint',
    [chat ? 400 : 404, 'model_wrong_protocol'],
    call('other endpoint', { model: chat ? 'messages-only' : 'chat-only' }),
    refused,
  );
  add('not allowed', [403, 'model_forbidden'], call('not allowed', {}, {}, keys.narrow), refused);
  add('address', [403, 'address_forbidden'], call('address', {}, {}, keys.bound), refused);
  add('scope', [403, 'scope_forbidden'], call('scope', {}, {}, keys.scoped), refused);
  if (!chat) add('version', invalid, call('version', {}, { 'anthropic-version': '2000-01-01' }), refused);

  const left = [499, 'client_left'] as const;
  add('left in the body', left, () => leaveInBody(end('left in the body')), refused);
  for (const stream of [false, true]) {
    const title = `left waiting${stream ? ', stream' : ''}`;
    add(
      title,
      left,
      () => leaveWaiting(end(title), goodBody(side, { model: faultModel(side, 'silent', stream), stream }), pair.fake),
      {
        stream,
      },
    );
  }
  add(
    'left in the stream',
    left,
    () =>
      leaveInStream(
        end('left in the stream'),
        goodBody(side, { model: faultModel(side, 'paced', true), stream: true }),
      ),
    {
      stream: true,
    },
  );

  for (const stream of [false, true]) {
    for (const status of [400, 404, 413, 422]) upstream(`says-${status}`, [status, 'upstream_rejected'], stream);
    for (const status of [401, 402, 403]) upstream(`says-${status}`, [500, 'upstream_credential'], stream);
    for (const status of [500, 503]) upstream(`says-${status}`, [500, 'upstream_failed'], stream);
    for (const status of [408, 504]) upstream(`says-${status}`, [chat ? 500 : 504, 'upstream_timeout'], stream);
    upstream('says-429', [429, 'upstream_rate_limited'], stream);
    upstream('says-529', [chat ? 500 : 529, 'upstream_overloaded'], stream);
    upstream('cut-early', [500, 'upstream_failed'], stream);
  }
  upstream('hollow', [500, 'upstream_malformed']);
  upstream('error-first', [chat ? 500 : 529, chat ? 'upstream_failed' : 'upstream_overloaded'], true);
  upstream('error-later', [200, chat ? 'upstream_failed' : 'upstream_overloaded'], true);
  upstream('no-end', [200, 'upstream_truncated'], true);
  upstream('garbled', [200, 'upstream_malformed'], true);
  return rows;
}

let rows: Row[];
let callers: number;

beforeAll(async () => {
  // All calls are sent at once: a busy machine needs a while for bodies that are not meant to be late.
  const limits = { body_bytes_max: '2MiB', body_bytes_in_flight_max: '1MiB', body_timeout: '4s' };
  const names = (side: Side) =>
    Object.keys(FAULTS).flatMap((name) => BOTH.map((stream) => faultModel(side, name, stream)));
  const apart = { chat: names('chat'), messages: names('messages') };
  pair = await startPair((url) => contractConfig(url, { limits, apart }));
  scriptContractModels(pair.fake);
  for (const side of SIDES) {
    for (const [name, scenario] of Object.entries(FAULTS)) {
      for (const stream of BOTH) pair.fake.script(faultModel(side, name, stream), scenario);
    }
  }
  const { gateway } = pair;
  keys = {
    bound: await createKey(gateway, { ips: ['192.0.2.1'] }),
    scoped: await createKey(gateway, { scopes: ['usage'] }),
    narrow: await createKey(gateway, { models: ['tool'] }),
  };
  rows = SIDES.flatMap(rowsOf);
  await Promise.all(rows.map(async ({ name, send }) => answers.set(name, await send())));
  await callWithoutRecord();
  callers = rows.length;
  records = await eventually('every record', async () => {
    const found = await gateway.calls();
    return found.length >= callers ? found : null;
  });
});
afterAll(() => pair.stop());

/** Sends requests that must not be recorded: no known caller, or not a call. */
async function callWithoutRecord(): Promise<void> {
  const tagged = { 'x-session-id': 'nobody' };
  const stranger = { url: pair.gateway.url, key: 'sk-foreign' };
  for (const side of SIDES) {
    expect((await post(stranger, side, goodBody(side), tagged)).status).toBe(401);
    expect((await get(pair.gateway, side === 'chat' ? '/v1/chat/completions' : '/v1/messages', tagged)).status).toBe(
      405,
    );
  }
  expect((await get(pair.gateway, '/v1/nothing', tagged)).status).toBe(404);
  expect((await get(pair.gateway, '/v1/models', tagged)).status).toBe(200);
}

const named = (name: string) => records.filter(({ session }) => session === name);

describe('the record of a call', () => {
  test('there is one for each call, with an id of its own, and none for anything else', () => {
    expect(rows.filter(({ name }) => named(name).length !== 1).map(({ name }) => name)).toEqual([]);
    expect(records.length).toBe(callers);
    expect(new Set(records.map(({ request_id }) => request_id)).size).toBe(callers);
    console.log(`records: ${callers} ends of calls checked`);
  });

  test('has the status that the client got, the kind of its error, and the id of its reply', () => {
    for (const { name, side, status, error, record } of rows) {
      const [found] = named(name);
      const answer = answers.get(name) ?? null;
      expect({ name, ...found }).toMatchObject({ name, protocol: side, status, error, ...record });
      if (answer === null) continue;
      expect({ name, status: answer.status }).toEqual({ name, status });
      expect({ name, id: answer.headers.get('x-request-id') }).toEqual({ name, id: found?.request_id ?? '' });
    }
  });

  test('a refusal costs nothing; a complete answer costs upstream’s usage at the price', () => {
    for (const side of SIDES) {
      const [good] = named(`${side} good`);
      expect(good?.usage).toEqual({
        input: 11,
        cache_read: 0,
        cache_write_5m: 0,
        cache_write_1h: 0,
        output: 5,
        reasoning: 0,
      });
      expect(good?.cost_nano_usd).toBe(String(11n * 1_000n + 5n * 5_000n));
      expect(good?.attempts).toEqual([expect.objectContaining({ status: 200, error: null })]);
      for (const name of ['no messages', 'says-500', 'says-429', 'says-422', 'hollow', 'cut-early, stream']) {
        expect({ name, found: named(`${side} ${name}`)[0] }).toMatchObject({
          found: { cost_nano_usd: '0', usage_source: 'void' },
        });
      }
    }
  });
});

/** Reason of each kind of failure in the rows; others have the reason of their name. */
const REASONS: Readonly<Record<string, string>> = {
  invalid_request: 'invalid_request',
  encoding_unsupported: 'invalid_request',
  body_too_large: 'invalid_request',
  body_timeout: 'invalid_request',
  over_capacity: 'ours',
  model_unknown: 'model_not_allowed',
  model_forbidden: 'model_not_allowed',
  model_wrong_protocol: 'invalid_request',
  address_forbidden: 'key_restricted',
  scope_forbidden: 'key_restricted',
  client_left: 'client_closed',
  upstream_rejected: 'invalid_request',
  upstream_credential: 'provider_credential',
  upstream_failed: 'provider_error',
  upstream_timeout: 'provider_error',
  upstream_rate_limited: 'provider_error',
  upstream_overloaded: 'provider_error',
  upstream_malformed: 'provider_error',
};

describe('the reason of a call that failed', () => {
  test('is in the record of every one of them, and of no other', () => {
    for (const { name, status, error } of rows) {
      const kind = error === null ? undefined : status === 200 ? 'cut' : REASONS[error];
      expect({ name, kind: named(name)[0]?.reason?.kind }).toEqual({ name, kind: kind as never });
    }
  });

  test('the reason names the policy that refused, and its owner', () => {
    for (const side of SIDES) {
      const reasonOf = (name: string) => named(`${side} ${name}`)[0]?.reason;
      const subject = (key: MadeKey) => ({ type: 'key' as const, id: key.id, name: 'a test' });
      expect(reasonOf('not allowed')).toEqual({
        kind: 'model_not_allowed',
        subject: subject(keys.narrow),
        rule: { id: `key:${keys.narrow.id}`, cap: 'models' },
        allowed: ['tool'],
        at_step: 'route',
      });
      expect(reasonOf('address')).toMatchObject({ subject: subject(keys.bound), rule: { cap: 'addresses' } });
      expect(reasonOf('scope')).toMatchObject({ subject: subject(keys.scoped), rule: { cap: 'scopes' } });
      expect(reasonOf('no messages')).toMatchObject({ param: 'messages', at_step: 'read' });
    }
  });

  test('the reason has the provider’s message and name', () => {
    for (const side of SIDES) {
      for (const [name, status] of [
        ['says-400', 400],
        ['says-401', 401],
        ['says-429, stream', 429],
        ['says-503', 503],
      ] as const) {
        const reason = named(`${side} ${name}`)[0]?.reason;
        expect({ name, reason }).toMatchObject({
          name,
          reason: {
            target: {
              provider: expect.stringMatching(side === 'chat' ? /^lab-chat-says-/ : /^lab-messages-messages-says-/),
            },
            upstream: { status },
            at_step: 'provider',
          },
        });
        expect(reason?.upstream?.message?.length).toBeGreaterThan(0);
        expect(reason?.upstream?.message?.length).toBeLessThanOrEqual(300);
      }
      expect(named(`${side} error-later, stream`)[0]?.reason).toMatchObject({ kind: 'cut', at_step: 'answer' });
    }
  });

  test('the attempt of a stream that broke off has the error too', () => {
    for (const side of SIDES) {
      const [cut] = named(`${side} no-end, stream`);
      expect(cut?.attempts).toMatchObject([{ status: 200, error: 'upstream_truncated' }]);
      const [left] = named(`${side} left in the stream`);
      expect(left?.attempts).toMatchObject([{ status: 200, error: null }]);
    }
  });
});

describe('the replies of those calls', () => {
  test('name provider, model and attempts; the cost only in one piece', () => {
    for (const side of SIDES) {
      const plain = answers.get(`${side} good`)?.headers;
      const stream = answers.get(`${side} good stream`)?.headers;
      for (const headers of [plain, stream]) {
        expect(headers?.get('x-tollgate-provider')).toBe(side === 'chat' ? 'lab' : 'lab-messages');
        expect(headers?.get('x-tollgate-model')).toBe(side === 'chat' ? 'ok' : 'm-ok');
        expect(headers?.get('x-tollgate-attempts')).toBe('1');
      }
      expect(plain?.get('x-tollgate-cost-usd')).toBe('0.000036');
      expect(stream?.get('x-tollgate-cost-usd')).toBeNull();
    }
  });

  test('streams have the headers of the contract', () => {
    for (const side of SIDES) {
      const headers = answers.get(`${side} good stream`)?.headers;
      expect(headers?.get('content-type')).toBe('text/event-stream; charset=utf-8');
      expect(headers?.get('cache-control')).toBe('no-cache, no-transform');
      expect(headers?.get('x-accel-buffering')).toBe('no');
    }
  });

  test('a 429 of upstream carries retry-after of at most 60 seconds', () => {
    for (const side of SIDES) expect(answers.get(`${side} says-429`)?.headers.get('retry-after')).toBe('60');
  });

  test('a fault of upstream or of ours is never 401 or 403', () => {
    const faults = rows.filter(({ error }) => error?.startsWith('upstream_') === true && error !== 'upstream_rejected');
    expect(faults.length).toBeGreaterThan(30);
    for (const { name } of faults) expect([401, 403]).not.toContain(answers.get(name)?.status ?? 0);
  });

  test('a stream that failed after its first byte ends in-band, without the end of its protocol', async () => {
    for (const side of SIDES) {
      for (const name of ['error-later', 'no-end', 'garbled']) {
        const text = (await answers.get(`${side} ${name}, stream`)?.text()) ?? '';
        const last = text.trimEnd().split('\n\n').at(-1) ?? '';
        expect({ name, text }).not.toMatchObject({ text: expect.stringMatching(/\[DONE\]|message_stop/) });
        expect({ name, last }).toMatchObject({
          last: expect.stringMatching(
            side === 'chat' ? /^data: \{"error":\{/ : /^event: error\ndata: \{"type":"error"/,
          ),
        });
        // The provider's own error passes through.
        if (name === 'error-later') continue;
        expect(JSON.parse(last.slice(last.indexOf('{'))).error.hint).toEqual({
          kind: 'cut',
          sentence: 'The provider failed before the answer was complete.',
        });
      }
    }
  });
});
