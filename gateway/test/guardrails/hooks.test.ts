/** Tests hooks of guardrails end to end: what they get and may answer, and what happens where they fail. */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createHmac } from 'node:crypto';
import { ask, FORMATS, newTenant, startCachePair, type Tenant } from '../cache/cache-rig.ts';
import { type Pair, sentTexts } from '../harness/start-pair.ts';
import { control } from '../http-contract/make-key.ts';

interface Asked {
  readonly side: string;
  readonly texts: readonly string[];
  readonly account: string;
  readonly workspace: string;
  readonly key: string;
}

let pair: Pair;
let tenant: Tenant;
let rule: { id: string; secret: string };
let reply: (asked: Asked) => Response | Promise<Response> = () => Response.json({ action: 'allow' });
const got: { readonly headers: Headers; readonly body: string }[] = [];

const service = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    const body = await request.text();
    got.push({ headers: request.headers, body });
    return reply(JSON.parse(body));
  },
});
const url = `http://127.0.0.1:${service.port}/check`;

beforeAll(async () => {
  pair = await startCachePair({ server: { private_origins: [new URL(url).origin] } });
  tenant = await newTenant(pair.gateway, {}, 'default');
  const made = (await control(pair.gateway, 'guardrails.create', {
    ...{ name: 'Policy service', check: 'hook', side: 'both', url, timeout_ms: 500 },
    workspace: tenant.workspace,
  })) as { id: string; signing_secret: string };
  rule = { id: made.id, secret: made.signing_secret };
  for (const side of ['c', 'm', 'r']) pair.fake.script(`${side}-think`, { say: { text: 'the answer is forty-two' } });
});
afterAll(async () => {
  service.stop(true);
  await pair.stop();
});

const WAYS = (['chat', 'messages', 'responses'] as const).flatMap((format) =>
  [false, true].map((stream) => [format, stream] as const),
);

function send(format: keyof typeof FORMATS, stream: boolean, text: string) {
  const { path, body } = FORMATS[format];
  return ask(tenant, path, { ...body('c-think', text), stream });
}

test.each(WAYS)(
  'gets the texts of both sides, signed, and may replace them: %s, streamed: %p',
  async (format, stream) => {
    reply = ({ texts }) => Response.json({ action: 'replace', texts: texts.map((text) => text.toUpperCase()) });
    got.length = 0;
    const answer = await send(format, stream, 'a quiet question');
    expect(answer.status).toBe(200);
    expect(sentTexts(pair, 'c-think').at(-1)).toContain('A QUIET QUESTION');
    expect(answer.text).toContain('THE ANSWER IS FORTY-TWO');
    expect(answer.text).not.toContain('forty');
    const [request, response] = got.map(({ body }) => JSON.parse(body));
    expect(request).toMatchObject({
      ...{ rule: rule.id, account: 'default', workspace: tenant.workspace, key: tenant.keyId, side: 'request' },
      ...{ model: 'c-think', texts: ['a quiet question'] },
    });
    expect(response).toMatchObject({ side: 'answer', texts: ['the answer is forty-two'] });
    for (const { headers, body } of got) {
      const timestamp = headers.get('tollgate-timestamp');
      const signature = createHmac('sha256', rule.secret).update(`${timestamp}.${body}`).digest('hex');
      expect(headers.get('tollgate-signature')).toBe(`sha256=${signature}`);
    }
  },
);

test.each(WAYS)('may block either side: %s, streamed: %p', async (format, stream) => {
  for (const side of ['request', 'answer']) {
    reply = (asked) =>
      Response.json(asked.side === side ? { action: 'block', reason: 'too quiet' } : { action: 'allow' });
    const answer = await send(format, stream, 'a question');
    expect(answer.status).toBe(stream && side === 'answer' ? 200 : 400);
    expect(answer.text).toContain(`blocks this ${side}: too quiet`);
    expect(answer.text).not.toContain('forty');
    const [record] = await pair.gateway.calls('--request-id', answer.requestId);
    expect(record).toMatchObject({ error: 'guardrail_blocked' });
    expect(record?.cost_nano_usd === '0').toBe(side === 'request');
  }
});

const BROKEN: readonly (readonly [string, () => Response | Promise<Response>])[] = [
  ['is late', () => new Promise<Response>(() => {})],
  ['fails', () => new Response('no', { status: 500 })],
  ['redirects', () => Response.redirect(url, 302)],
  ['answers with no JSON', () => new Response('yes')],
  ['has no action', () => Response.json({})],
  ['replaces too few texts', () => Response.json({ action: 'replace', texts: [] })],
  ['replaces with what is no text', () => Response.json({ action: 'replace', texts: [1] })],
];

test.each(BROKEN)('one that %s refuses the request, or lets it pass where it fails open', async (_, broken) => {
  reply = (asked) => (asked.side === 'request' ? broken() : Response.json({ action: 'allow' }));
  const closed = await send('chat', false, 'a question');
  expect([closed.status, closed.headers.get('retry-after')]).toEqual([503, '2']);
  expect(closed.text).toContain('the guardrail \\"Policy service\\" could not check this request');
  await control(pair.gateway, 'guardrails.set', { id: rule.id, fails_open: true });
  const open = await send('chat', false, 'a question');
  await control(pair.gateway, 'guardrails.set', { id: rule.id, fails_open: false });
  expect(open.status).toBe(200);
});

test('one that would get too much refuses the request for good', async () => {
  const answer = await send('chat', false, 'a quiet question '.repeat(80_000));
  expect(answer.status).toBe(400);
  expect(answer.text).toContain('its texts are larger than the 1048576 bytes that a hook gets');
});

test('one that is late for an answer ends the stream, which is charged', async () => {
  reply = (asked) => (asked.side === 'answer' ? new Promise<Response>(() => {}) : Response.json({ action: 'allow' }));
  const answer = await send('chat', true, 'a question');
  expect(answer.text).toContain('could not check this answer');
  expect(answer.text).not.toContain('forty');
  const [record] = await pair.gateway.calls('--request-id', answer.requestId);
  expect(record).toMatchObject({ error: 'guardrail_unavailable', reason: { kind: 'guardrail' } });
  expect(record?.cost_nano_usd).not.toBe('0');
});
