/** Tests that guardrails mask and block requests and answers, in the client's format and translated, streamed and whole. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { ask, askUntilHit, FORMATS, newTenant, startCachePair, type Tenant } from '../cache/cache-rig.ts';
import { type Pair, sentTexts } from '../harness/start-pair.ts';
import { control } from '../http-contract/make-key.ts';

let pair: Pair;

beforeAll(async () => {
  pair = await startCachePair();
});
afterAll(() => pair.stop());

const SECRET = `ghp_${'aB3d'.repeat(9)}`;
const MASKED = /\[EMAIL_[0-9a-f]{8}\]/;

async function tenantWith(rules: readonly object[], given: object = {}): Promise<Tenant> {
  const tenant = await newTenant(pair.gateway, given);
  for (const [at, rule] of rules.entries()) {
    await control(pair.gateway, 'guardrails.create', { account: tenant.account, name: `rule ${at}`, ...rule });
  }
  return tenant;
}

const WAYS = (['chat', 'messages', 'responses'] as const).flatMap((format) =>
  (['c', 'm', 'r'] as const).flatMap((side) => [false, true].map((stream) => [format, side, stream] as const)),
);

describe('a text that a rule masks', () => {
  let tenant: Tenant;
  beforeAll(async () => {
    tenant = await tenantWith([{ check: 'personal_data', side: 'both', action: 'mask' }]);
    const text = 'Write to ada@example.com, or call +1 415 555 0132 today.';
    for (const side of ['c', 'm', 'r']) pair.fake.script(`${side}-echo`, { say: { text } });
  });

  test.each(WAYS)(
    'never reaches the provider or the client: %s over %s, streamed: %p',
    async (format, side, stream) => {
      const { path, body } = FORMATS[format];
      const asked = `mail bob.${format}.${side}@example.org now`;
      const got = await ask(tenant, path, { ...body(`${side}-echo`, asked), stream });
      expect([got.status, got.text.includes('error')]).toEqual([200, got.text.includes('"error":null')]);
      const sent = sentTexts(pair, `${side}-echo`).at(-1) ?? '';
      expect(sent).toMatch(MASKED);
      expect(sent).not.toContain('@example.org');
      const shown = textOf(got.text, stream);
      expect(shown.replace(/_[0-9a-f]{8}\]/g, ']')).toBe('Write to [EMAIL], or call [PHONE] today.');
      expect(got.text).not.toContain('ada@');
      expect(got.text).not.toContain('415 555');
      const [record] = await pair.gateway.calls('--request-id', got.requestId);
      // One in the request, two in the answer.
      expect(Object.values((record as { masked?: Record<string, number> }).masked ?? {})).toEqual([3]);
    },
  );
});

/** The text of an answer, as its client puts it together. */
function textOf(body: string, stream: boolean): string {
  const data = stream
    ? body
        .split('\n')
        .filter((line) => line.startsWith('data: {'))
        .map((line) => JSON.parse(line.slice(6)))
    : [JSON.parse(body)];
  return data
    .map((one) => {
      if (one.choices) return (one.choices[0]?.delta ?? one.choices[0]?.message)?.content ?? '';
      if (one.type === 'content_block_delta') return one.delta.text ?? '';
      if (one.type === 'response.output_text.delta') return one.delta;
      if (one.type === 'message') return one.content.map((part: { text: string }) => part.text).join('');
      return one.object === 'response'
        ? one.output
            .flatMap((item: { content?: { text: string }[] }) => item.content?.map(({ text }) => text) ?? [])
            .join('')
        : '';
    })
    .join('');
}

describe('a text that a rule blocks', () => {
  test.each(WAYS)('a request gets no provider: %s over %s, streamed: %p', async (format, side, stream) => {
    const tenant = await tenantWith([{ check: 'secrets', side: 'request', action: 'block' }]);
    const { path, body } = FORMATS[format];
    const before = pair.fake.served(`${side}-ok`).length;
    const got = await ask(tenant, path, { ...body(`${side}-ok`, `my key is ${SECRET}`), stream });
    expect(got.status).toBe(400);
    expect(JSON.parse(got.text).error.message).toContain('the guardrail "rule 0" blocks this request: GitHub tokens');
    expect(pair.fake.served(`${side}-ok`).length).toBe(before);
    const [record] = await pair.gateway.calls('--request-id', got.requestId);
    expect(record).toMatchObject({ error: 'guardrail_blocked', cost_nano_usd: '0', reason: { kind: 'guardrail' } });
  });

  test.each(WAYS)('an answer ends, and is charged: %s over %s, streamed: %p', async (format, side, stream) => {
    const tenant = await tenantWith([{ check: 'terms', items: ['Project Falcon'], side: 'answer', action: 'block' }]);
    pair.fake.script(`${side}-long`, { say: { text: `This is about project falcon, which is secret.` } });
    const { path, body } = FORMATS[format];
    const got = await ask(tenant, path, { ...body(`${side}-long`, 'tell me'), stream });
    expect(got.status).toBe(stream ? 200 : 400);
    expect(got.text).toContain('blocks this answer');
    expect(got.text.toLowerCase()).not.toContain('falcon');
    const [record] = await pair.gateway.calls('--request-id', got.requestId);
    expect(record).toMatchObject({ error: 'guardrail_blocked', reason: { kind: 'guardrail' } });
    expect(record?.cost_nano_usd).not.toBe('0');
  });
});

test('rules of one account never apply to another', async () => {
  await tenantWith([{ check: 'personal_data', side: 'both', action: 'mask' }]);
  const other = await newTenant(pair.gateway, {});
  const { path, body } = FORMATS.chat;
  const asked = body('c-ok', 'mail eve@example.org');
  expect((await ask(other, path, asked)).status).toBe(200);
  expect(sentTexts(pair, 'c-ok').at(-1)).toBe(JSON.stringify(asked));
});

test('a new rule is in force at once, also for answers that are cached', async () => {
  const tenant = await newTenant(pair.gateway, { cache: 'all' });
  pair.fake.script('c-think', { say: { text: 'Ask ada@example.com.' } });
  const { path, body } = FORMATS.chat;
  const { hit } = await askUntilHit(tenant, path, body('c-think', 'whom?'));
  expect(hit.text).toContain('ada@example.com');
  await control(pair.gateway, 'guardrails.create', {
    ...{ account: tenant.account, name: 'mask', check: 'personal_data', side: 'answer', action: 'mask' },
  });
  const after = await ask(tenant, path, body('c-think', 'whom?'));
  expect(after.text).toMatch(MASKED);
  const again = await askUntilHit(tenant, path, body('c-think', 'whom?'));
  expect(again.hit.text).toMatch(MASKED);
});

test('a retry gets its answer, also where the rules changed in between', async () => {
  const tenant = await tenantWith([{ check: 'personal_data', side: 'request', action: 'mask' }]);
  const { path, body } = FORMATS.chat;
  const asked = body('c-ok', 'mail bob@example.org');
  const once = { 'idempotency-key': crypto.randomUUID() };
  const first = await ask(tenant, path, asked, once);
  expect(first.status).toBe(200);
  const served = pair.fake.served('c-ok').length;
  await control(pair.gateway, 'guardrails.create', {
    ...{ account: tenant.account, name: 'names', check: 'terms', items: ['bob', 'mail'], action: 'mask' },
  });
  const again = await ask(tenant, path, asked, once);
  expect([again.status, again.text]).toEqual([200, first.text]);
  expect(pair.fake.served('c-ok').length).toBe(served);
  const other = await ask(tenant, path, body('c-ok', 'mail eve@example.org'), once);
  expect(JSON.parse(other.text).error.message).toContain('this idempotency key was used with another body');
});

test.each([false, true])('a retry gets its answer by the rules in force now: streamed %p', async (stream) => {
  const tenant = await newTenant(pair.gateway, {});
  pair.fake.script('c-think', { say: { text: 'Ask ada@example.com about Falcon.' } });
  const { path, body } = FORMATS.chat;
  const asked = { ...body('c-think', 'whom?'), stream };
  const once = { 'idempotency-key': crypto.randomUUID() };
  expect(textOf((await ask(tenant, path, asked, once)).text, stream)).toContain('ada@example.com');
  const served = pair.fake.served('c-think').length;
  const add = (rule: object) => control(pair.gateway, 'guardrails.create', { account: tenant.account, ...rule });
  await add({ name: 'mask', check: 'personal_data', side: 'answer', action: 'mask' });
  for (const turn of ['first', 'second']) {
    const again = await ask(tenant, path, asked, once);
    expect([turn, again.status, again.headers.get('x-tollgate-replayed')]).toEqual([turn, 200, 'true']);
    expect(again.text).not.toContain('ada@');
    expect(textOf(again.text, stream)).toMatch(/^Ask \[EMAIL_[0-9a-f]{8}\] about Falcon\.$/);
  }
  await add({ name: 'names', check: 'terms', items: ['falcon'], side: 'answer', action: 'block' });
  const refused = await ask(tenant, path, asked, once);
  expect([refused.status, JSON.parse(refused.text).error.code]).toEqual([400, 'guardrail_blocked']);
  const [record] = await pair.gateway.calls('--request-id', refused.requestId);
  expect(record).toMatchObject({ cost_nano_usd: '0', usage_source: 'void' });
  expect(pair.fake.served('c-think').length).toBe(served);
});

/** What a rule cannot read: path, body, and the side of a rule that refuses it. */
const UNREAD = [
  ['a form with a file', '/v1/audio/transcriptions', form({ model: 'c-ok', file: sound() }), 'request'],
  ['a batch', '/v1/batches', { input_file_id: 'f', endpoint: '/v1/responses', completion_window: '24h' }, 'request'],
  ['a batch', '/v1/batches', { input_file_id: 'f', endpoint: '/v1/responses', completion_window: '24h' }, 'answer'],
  ['an uploaded file', '/v1/files', form({ purpose: 'user_data', file: sound() }), 'request'],
  ['a conversation', '/v1/conversations', { items: [] }, 'request'],
  ['sound', '/v1/audio/speech', { model: 'c-ok', input: 'a', voice: 'alloy' }, 'answer'],
  [
    'sound in events',
    '/v1/audio/speech',
    { model: 'c-ok', input: 'a', voice: 'alloy', stream_format: 'sse' },
    'answer',
  ],
  ['token ids', '/v1/completions', { model: 'c-ok', max_tokens: 9, prompt: [9906, 1917] }, 'request'],
  ['a list of token ids', '/v1/embeddings', { model: 'c-ok', input: [[9906, 1917]] }, 'request'],
  ['a response in the background', '/v1/responses', { model: 'r-ok', input: 'a', background: true }, 'answer'],
] as const;

function sound(): File {
  return new File(['RIFF'], 'a.wav');
}

function form(members: Readonly<Record<string, string | File>>): FormData {
  const filled = new FormData();
  for (const [name, value] of Object.entries(members)) filled.append(name, value);
  return filled;
}

test.each(UNREAD)('%s, which no rule can read, is refused: %s', async (_, path, body, side) => {
  const rule = { check: 'secrets', side, action: 'mask' };
  const send = async ({ url, key }: Tenant) => {
    const isForm = body instanceof FormData;
    const reply = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, ...(isForm ? {} : { 'content-type': 'application/json' }) },
      body: isForm ? body : JSON.stringify(body),
    });
    return JSON.stringify(await reply.json());
  };
  expect(await send(await tenantWith([rule]))).toContain(`cannot check this ${side}`);
  expect(await send(await tenantWith([{ ...rule, fails_open: true }]))).not.toContain('guardrail');
});
