/**
 * Tests the request side of contract 4 and 7 for bodies and headers without a recording: the exact bytes sent upstream.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { ServedCall } from '../fake-upstream/served.ts';
import { pointAt } from '../harness/point-at.ts';
import { type Pair, startPair } from '../harness/start-pair.ts';

const LAB_KEY = 'lab-credential-77aa';
const OTHER_KEY = `tg_${'0'.repeat(49)}`;
let pair: Pair;

beforeAll(async () => {
  pair = await startPair((fakeUrl) =>
    pointAt(fakeUrl, {
      chat: ['ok'],
      messages: ['ok-messages'],
      renamed: { 'näme"/x': 'ok', renamed: 'ok' },
      apiKey: LAB_KEY,
    }),
  );
  pair.fake.script('ok-messages', { answer: 'ok' });
});
afterAll(() => pair.stop());

/** Sends a body and returns the call that upstream received. */
async function sendThrough(path: string, body: string, headers: Record<string, string> = {}): Promise<ServedCall> {
  const before = pair.fake.served().length;
  const credential =
    'x-api-key' in headers || 'authorization' in headers ? {} : { authorization: `Bearer ${pair.gateway.key}` };
  const response = await fetch(`${pair.gateway.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...credential, ...headers },
    body,
  });
  expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
  const served = pair.fake.served()[before];
  if (served === undefined) throw new Error('upstream saw no call');
  return served;
}

const bodyOf = (served: ServedCall) => Buffer.from(served.requestBody).toString('utf8');
const headersOf = (served: ServedCall) => new Map(served.headers);

describe('a chat body at upstream', () => {
  const message = '"messages":[{"role":"user","content":"hi"}]';
  const cases: ReadonlyArray<readonly [string, string, string]> = [
    ['is the very same where nothing must change', `{"model":"ok",${message}}`, `{"model":"ok",${message}}`],
    [
      'keeps numbers, escapes and odd spacing as they were written',
      `\n{ "seed" : 9007199254740993 ,"temperature":1.0e0,\t"model":"ok", "x":"\\u00e9\\/é" ,${message} }\r\n`,
      `\n{ "seed" : 9007199254740993 ,"temperature":1.0e0,\t"model":"ok", "x":"\\u00e9\\/é" ,${message} }\r\n`,
    ],
    [
      'has upstream’s model name in place of ours',
      `{ "model" : "renamed" ,${message}}`,
      `{ "model" : "ok" ,${message}}`,
    ],
    [
      'has it where ours was written with escapes',
      `{"model":"n\\u00e4me\\"\\/x",${message}}`,
      `{"model":"ok",${message}}`,
    ],
    [
      'asks for usage where the client did not say',
      `{"model":"ok","stream":true,${message} }`,
      `{"model":"ok","stream":true,${message},"stream_options":{"include_usage":true} }`,
    ],
    [
      'asks for usage where the client refused it',
      `{"stream_options":{ "include_usage" : false , "x":1},"model":"ok","stream":true,${message}}`,
      `{"stream_options":{ "include_usage" : true , "x":1},"model":"ok","stream":true,${message}}`,
    ],
    [
      'asks for usage beside other options',
      `{"model":"ok","stream":true,"stream_options":{"include_obfuscation":false},${message}}`,
      `{"model":"ok","stream":true,"stream_options":{"include_obfuscation":false,"include_usage":true},${message}}`,
    ],
    [
      'asks for usage in empty and in null options',
      `{"model":"ok","stream":true,"stream_options":null,${message}}`,
      `{"model":"ok","stream":true,"stream_options":{"include_usage":true},${message}}`,
    ],
    [
      'is untouched where the client asks for usage itself',
      `{"model":"ok","stream":true,"stream_options":{"include_usage":true},${message}}`,
      `{"model":"ok","stream":true,"stream_options":{"include_usage":true},${message}}`,
    ],
    [
      'changes no nested member of the same name',
      `{"tools":[{"type":"function","function":{"name":"f","parameters":{"model":"renamed","stream_options":null}}}],"model":"renamed",${message}}`,
      `{"tools":[{"type":"function","function":{"name":"f","parameters":{"model":"renamed","stream_options":null}}}],"model":"ok",${message}}`,
    ],
  ];
  for (const [name, sent, wanted] of cases) {
    test(name, async () => {
      expect(bodyOf(await sendThrough('/v1/chat/completions', sent))).toBe(wanted);
    });
  }
});

describe('large bodies at once', () => {
  /** A request number and a text that no other request has, 4 to 240 KB. */
  const largeBody = (at: number) => {
    const content = randomBytes(3_000 * (1 + ((at * 7) % 60))).toString('base64');
    return `{"model":"ok","seed":${at},"messages":[{"role":"user","content":"${content}"}]}`;
  };
  const seedIn = (body: string) => Number(/"seed":(\d+)/.exec(body)?.[1]);

  test('never get each other’s bytes, also where clients leave in the middle', async () => {
    const before = pair.fake.served().length;
    const bodies = Array.from({ length: 96 }, (_, at) => largeBody(at));
    const sendOne = async (body: string, at: number): Promise<boolean> => {
      const packs = at % 3 === 1;
      const leaving = at % 4 === 3 ? AbortSignal.timeout(at % 16) : null;
      const sent = fetch(`${pair.gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${pair.gateway.key}`,
          ...(packs ? { 'content-encoding': 'gzip' } : {}),
        },
        body: packs ? gzipSync(body, { level: 1 }) : body,
        signal: leaving,
      });
      const status = await sent.then((response) => response.text().then(() => response.status)).catch(() => null);
      expect(status).toBeOneOf(leaving === null ? [200] : [200, null]);
      return leaving === null;
    };
    const complete = await Promise.all(bodies.map(sendOne));
    const received = pair.fake.served().slice(before).map(bodyOf);
    // Of a client that left, upstream may have received a part.
    for (const body of received) {
      if (complete[seedIn(body)]) expect(body === bodies[seedIn(body)]).toBe(true);
      else expect(bodies[seedIn(body)]?.startsWith(body)).toBe(true);
    }
    const seeds = received.map(seedIn);
    for (const [at, wasComplete] of complete.entries()) if (wasComplete) expect(seeds).toContain(at);
  });
});

describe('headers at upstream', () => {
  const body = '{"model":"ok-messages","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}';
  const chatBody = '{"model":"ok","messages":[{"role":"user","content":"hi"}]}';

  test('a chat upstream gets its own credential and none of the caller’s headers', async () => {
    const served = await sendThrough('/v1/chat/completions', chatBody, {
      'x-api-key': pair.gateway.key,
      cookie: 'session=1',
      'openai-organization': 'org-of-the-caller',
      'x-forwarded-for': '10.0.0.1',
    });
    const names = [...headersOf(served).keys()].sort();
    expect(names).toEqual([
      'accept',
      'accept-encoding',
      'authorization',
      'content-length',
      'content-type',
      'host',
      'user-agent',
    ]);
    expect(headersOf(served).get('authorization')).toBe(`Bearer ${LAB_KEY}`);
  });

  test('a messages upstream gets its own key, a version, the betas and other anthropic headers', async () => {
    const served = await sendThrough('/v1/messages?beta=true', body, {
      'x-api-key': pair.gateway.key,
      authorization: `Bearer ${OTHER_KEY}`,
      'provider-version': '2026-10-21',
      'anthropic-beta': 'a-2025-01-01,b-2026-02-02',
      'anthropic-future': 'kept',
      'anthropic-workspace-id': 'wrkspc_of_the_caller',
    });
    const headers = headersOf(served);
    expect(headers.get('x-api-key')).toBe(LAB_KEY);
    expect(headers.get('anthropic-version')).toBe('2026-10-21');
    expect(headers.get('anthropic-beta')).toBe('a-2025-01-01,b-2026-02-02');
    expect(headers.get('anthropic-future')).toBe('kept');
    for (const name of ['authorization', 'anthropic-workspace-id', 'provider-version'])
      expect(headers.has(name)).toBe(false);
    expect(served.headLines.join('\n')).not.toContain(pair.gateway.key);
  });

  test('a messages upstream gets a version where the caller sent none', async () => {
    expect(headersOf(await sendThrough('/v1/messages', body)).get('anthropic-version')).toBe('2023-06-01');
  });
});
