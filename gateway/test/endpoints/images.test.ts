/** Tests images through a running gateway: bytes, forms, streams, prices by token and by image, and refusals. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import OpenAI, { toFile } from 'openai';
import { estimateImageTokens } from '../../src/protocols/images/shared/image-tokens.ts';
import { asObject } from '../../src/protocols/json.ts';
import { recordingBytes } from '../fake-upstream/recording.ts';
import { loadRecordings } from '../fake-upstream/recordings.ts';
import { eventually } from '../harness/eventually.ts';
import type { CallLine } from '../harness/start-gateway.ts';
import { type EndpointRig, startEndpointRig } from './endpoint-rig.ts';

const BY_TOKEN = { input: 5, image_input: 10, output: 12, image_output: 40 };
const BY_IMAGE = {
  input: 0,
  output: 0,
  per_unit: { image: { '1024x1024/standard': 0.04, '1024x1024/hd': 0.08, '1792x1024/hd': 0.12, '256x256': 0.016 } },
};
const recordings = (loadRecordings({ api: 'openai-images' }) ?? []).filter(
  ({ request, response }) => request !== null && typeof request.body === 'object' && response.status === 200,
);

function configFor(url: string): object {
  const base = { base_url: `${url}/v1`, api_key: 'lab-credential' };
  const target = (provider: string, model: string, price: object) => ({ targets: [{ provider, model }], price });
  return {
    defaults: { routing: { max_extra_attempts: 0 } },
    providers: { openai: { kind: 'openai', ...base }, lab: { kind: 'openai-compatible', ...base } },
    models: {
      draw: target('openai', 'gpt-image-2', BY_TOKEN),
      'dall-e-3': target('openai', 'dall-e-3', BY_IMAGE),
      chatty: target('lab', 'chatty', { input: 1, output: 1 }),
      ...Object.fromEntries(recordings.map(({ id }) => [`rec:${id}`, target('openai', `dall-e:${id}`, BY_TOKEN)])),
    },
  };
}

let rig: EndpointRig;
beforeAll(async () => {
  rig = await startEndpointRig(configFor);
}, 60_000);
afterAll(() => rig.stop());

const LARGE = 'A'.repeat(1024 * 1024);
const PIXEL = Buffer.from('iVBORw0KGgoAAAANSUhEUg', 'base64');
const USAGE = {
  input_tokens: 431,
  input_tokens_details: { image_tokens: 388, text_tokens: 43 },
  output_tokens: 1364,
  output_tokens_details: { image_tokens: 1056, text_tokens: 308 },
  total_tokens: 1795,
};
/** In nano-USD at `BY_TOKEN`, computed here by hand: a dollar per million tokens is a thousand nano-USD per token. */
const COST = 43 * 5_000 + 388 * 10_000 + 308 * 12_000 + 1056 * 40_000;
const image = (members: object = {}) => ({ created: 1, data: [{ b64_json: 'AAAA' }], ...members });

const draw = (members: object = {}, headers = {}) =>
  rig.post('/v1/images/generations', { model: 'draw', prompt: 'a gate', ...members }, headers);
const paint = (members: object = {}) =>
  rig.post('/v1/images/generations', { model: 'dall-e-3', prompt: 'a gate', ...members });

test('images priced by token: text and images of both sides at their own rates', async () => {
  const text = ` ${JSON.stringify(image({ size: '1024x1024', quality: 'medium', usage: USAGE }))}\n`;
  rig.upstream.answer('gpt-image-2', { body: text });
  const answer = await draw({ n: 1, quality: 'auto' });
  expect([answer.status, answer.bytes.toString()]).toEqual([200, text]);
  expect(rig.upstream.served('gpt-image-2').at(-1)?.path).toBe('/v1/images/generations');
  expect(await rig.recordOf(answer)).toMatchObject({
    protocol: 'images',
    usage_source: 'upstream',
    cost_nano_usd: String(COST),
    usage: {
      input: 431,
      output: 1364,
      image_input: 388,
      image_output: 1056,
      images: 1,
      image_kind: '1024x1024/medium',
    },
  });
});

test.each([
  ['what the answer states', {}, { size: '1024x1024', quality: 'hd' }, 0.08],
  ['what the answer states before what was asked', { quality: 'hd' }, { size: '1024x1024', quality: 'standard' }, 0.04],
  ['what was asked', { size: '1792x1024', quality: 'hd' }, {}, 0.12],
  ['the defaults of the model', {}, {}, 0.04],
  ['the size alone', { size: '256x256' }, { quality: 'low' }, 0.016],
  ['the highest price, where the kind has none', { size: '512x512', quality: 'hd' }, {}, 0.12],
])('11: an answer without usage is priced by size and quality: %s', async (_, asked, stated, usd) => {
  rig.upstream.answer('dall-e-3', { body: image(stated) });
  const answer = await paint(asked);
  const record = await rig.recordOf(answer);
  expect([answer.status, record?.usage_source, record?.cost_nano_usd]).toEqual([
    200,
    'counted',
    String(Math.round(usd * 1e9)),
  ]);
});

test.each([
  ['addresses', [{ url: 'https://a.example/1' }, { url: 'https://a.example/2' }], '80000000'],
  ['data of megabytes', [{ b64_json: LARGE }, { b64_json: LARGE }], '80000000'],
  ['none, because a filter took them', [], '0'],
])('the images of the answer count, not those that were asked for: %s', async (_, data, cost) => {
  rig.upstream.answer('dall-e-3', { body: image({ data }) });
  const record = await rig.recordOf(await paint({ n: 3 }));
  expect([record?.cost_nano_usd, record?.usage.images ?? 0, record?.error]).toEqual([cost, data.length, null]);
});

test('12: the model that drew vectors is a run of its own, at the price of its own', async () => {
  const svg_usage = { model: 'gpt-4o-mini', input_tokens: 100, output_tokens: 1_000, reasoning_tokens: 400 };
  rig.upstream.answer('gpt-image-2', { body: image({ usage: USAGE, svg_usage }) });
  const record = await rig.recordOf(await draw({ output_format: 'svg' }));
  // The catalogue's gpt-4o-mini: 0.15 and 0.6 USD per million tokens.
  expect(record?.cost_nano_usd).toBe(String(COST + 100 * 150 + 1_000 * 600));
  expect(record?.usage).toMatchObject({ input: 531, output: 2_364, reasoning: 400 });
});

test('a model that is to draw vectors must be served here', async () => {
  rig.upstream.answer('gpt-image-2', { body: image({ usage: USAGE }) });
  expect((await draw({ svg: { model: 'gpt-image-2' } })).status).toBe(200);
  const refused = await draw({ svg: { model: 'gpt-4o' } });
  expect([refused.status, refused.json.error.param]).toEqual([403, 'svg.model']);
});

test('a provider that states a cost and no tokens is priced by the image', async () => {
  rig.upstream.answer('dall-e-3', { body: image({ usage: { cost_in_usd_ticks: 200_000_000 } }) });
  expect(await rig.recordOf(await paint())).toMatchObject({ usage_source: 'counted', cost_nano_usd: '40000000' });
});

const sse = (...events: readonly object[]) =>
  events.map((event) => `event: ${(event as { type: string }).type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
const EVENTS = { headers: { 'content-type': 'text/event-stream' } };

test('10: a stream with events of many megabytes passes byte for byte, and its usage is read', async () => {
  const b64_json = 'A'.repeat(9 * 1024 * 1024);
  const text = sse(
    { type: 'image_generation.partial_image', b64_json, partial_image_index: 0 },
    { type: 'image_generation.completed', b64_json, size: '1024x1024', quality: 'medium', usage: USAGE },
  );
  rig.upstream.answer('gpt-image-2', { ...EVENTS, body: text });
  const answer = await draw({ stream: true, partial_images: 1 });
  expect([answer.status, answer.bytes.equals(Buffer.from(text))]).toEqual([200, true]);
  expect(await rig.recordOf(answer)).toMatchObject({
    stream: true,
    usage_source: 'upstream',
    cost_nano_usd: String(COST),
    error: null,
  });
});

describe('images priced by token without usage count as many tokens as such images have', () => {
  const b64_json = 'A'.repeat(1024 * 1024);
  const costOf = (record: CallLine | undefined, output: number) =>
    String((record?.usage.input ?? 0) * 5_000 + output * 40_000);

  test.each([
    ['of the size and quality of the answer', { n: 2 }, { size: '1024x1536', quality: 'high' }, 2 * 6_208],
    ['of the size and quality asked for', { size: '1024x1024', quality: 'medium' }, {}, 1_056],
    ['of the lowest quality, where none is known', {}, {}, 272],
  ])('a plain answer: %s', async (_, asked, stated, output) => {
    rig.upstream.answer('gpt-image-2', {
      body: image({ data: Array('n' in asked ? asked.n : 1).fill({ b64_json }), ...stated }),
    });
    const record = await rig.recordOf(await draw(asked));
    expect(record).toMatchObject({ usage_source: 'counted', usage: { output, image_output: output } });
    expect(record?.cost_nano_usd).toBe(costOf(record, output));
  });

  test('a stream of one event', async () => {
    const end = { type: 'image_generation.completed', b64_json, size: '1024x1024', quality: 'high' };
    rig.upstream.answer('gpt-image-2', { ...EVENTS, body: sse(end) });
    const record = await rig.recordOf(await draw({ stream: true }));
    expect(record).toMatchObject({ usage_source: 'counted', error: null });
    expect(record?.cost_nano_usd).toBe(costOf(record, 4_160));
  });

  test('a client that leaves with a partial image', async () => {
    const partial = { type: 'image_generation.partial_image', b64_json, partial_image_index: 0 };
    rig.upstream.answer('gpt-image-2', { ...EVENTS, body: sse(partial), stays: true });
    const client = new AbortController();
    const reply = await fetch(`${rig.gateway.url}/v1/images/generations`, {
      method: 'POST',
      headers: { authorization: `Bearer ${rig.gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'draw', prompt: 'a gate', quality: 'medium', stream: true, partial_images: 3 }),
      signal: client.signal,
    });
    await reply.body?.getReader().read();
    client.abort();
    const record = await eventually('the record', async () => (await rig.recordOf(reply)) ?? null);
    expect(record).toMatchObject({ error: 'client_left', usage: { image_output: 1_056, images: 1 } });
    expect(record.cost_nano_usd).toBe(costOf(record, 1_056));
  });
});

test.each([
  ['/v1/images/generations', {}, 'image_generation.completed'],
  ['/v1/images/edits', { images: [{ image_url: 'https://a.example/a.png' }] }, 'image_edit.completed'],
])('images of a host that ignores `stream` are events: %s', async (path, members, type) => {
  const stated = { size: '1024x1024', quality: 'medium', usage: USAGE };
  rig.upstream.answer('gpt-image-2', {
    body: image({ data: [{ b64_json: 'AAAA' }, { b64_json: 'BBBB' }], ...stated }),
  });
  const answer = await rig.post(path, { model: 'draw', prompt: 'a gate', n: 2, stream: true, ...members });
  const events = answer.bytes.toString().match(/(?<=^data: ).*$/gm) ?? [];
  expect(events.map((event) => JSON.parse(event))).toEqual([
    { type, created_at: 1, size: '1024x1024', quality: 'medium', b64_json: 'AAAA' },
    { type, created_at: 1, ...stated, b64_json: 'BBBB' },
  ]);
  expect(await rig.recordOf(answer)).toMatchObject({ error: null, cost_nano_usd: String(COST), usage: { images: 2 } });
});

test.each([
  ['an error event', { type: 'error', error: { code: 'server_error', message: 'sorry' } }],
  ['no end', null],
])('a stream that ends in %s is an error', async (_, last) => {
  const partial = { type: 'image_generation.partial_image', b64_json: 'AAAA', partial_image_index: 0 };
  rig.upstream.answer('gpt-image-2', { ...EVENTS, body: sse(partial, ...(last === null ? [] : [last])) });
  const answer = await draw({ stream: true });
  expect(answer.bytes.toString()).toContain('"error"');
  expect((await rig.recordOf(answer))?.error).not.toBeNull();
});

test.each([
  ['in `error`', { error: { message: 'slow down', code: 429 } }],
  ['as a whole event', { type: 'error', message: 'slow down', code: 'rate_limit_exceeded' }],
])('a limit of the provider that begins a stream is told as one: %s', async (_, event) => {
  rig.upstream.answer('gpt-image-2', { ...EVENTS, body: `data: ${JSON.stringify(event)}\n\n` });
  const answer = await draw({ stream: true });
  expect([answer.status, answer.json.error.code]).toEqual([429, 'rate_limit_exceeded']);
});

test.each([
  ['one finished image', [{ size: '1024x1024', quality: 'medium', usage: USAGE }], 'partial', String(COST)],
  ['no finished image', [], 'void', '0'],
])('a stream that fails after %s costs what is finished', async (_, finished, source, cost) => {
  const events = finished.map((facts) => ({ type: 'image_generation.completed', b64_json: 'AAAA', ...facts }));
  const partial = { type: 'image_generation.partial_image', b64_json: 'AAAA', partial_image_index: 0 };
  const body = sse(partial, ...events, { type: 'error', error: { code: 'server_error', message: 'sorry' } });
  rig.upstream.answer('gpt-image-2', { ...EVENTS, body });
  const record = await rig.recordOf(await draw({ stream: true, n: 2 }));
  expect([record?.error, record?.usage_source, record?.cost_nano_usd]).toEqual(['upstream_failed', source, cost]);
});

test.each([
  ['no prompt', { prompt: undefined }, 400, 'prompt'],
  ['no model, for which a provider would take its own', { model: undefined }, 400, 'model'],
  ['more images than any provider makes', { n: 11 }, 400, 'n'],
  ['text that is not a number', { n: 'many' }, 400, 'n'],
  ['text that is not a switch', { stream: 'perhaps' }, 400, 'stream'],
])('a request with %s is refused', async (_, members, status, param) => {
  const answer = await draw(members);
  expect([answer.status, answer.json.error.param]).toEqual([status, param]);
});

test('a model of another kind is not found at this path', async () => {
  const answer = await draw({ model: 'chatty' });
  expect([answer.status, answer.json.error.param]).toEqual([404, 'model']);
});

test('an idempotency key is refused: answers of this size are not stored', async () => {
  const answer = await draw({}, { 'idempotency-key': 'k1' });
  expect([answer.status, answer.json.error.param]).toEqual([400, 'idempotency-key']);
});

test('the words of the provider reach the caller where the request is refused', async () => {
  const error = {
    message: 'Your request was rejected by the safety system.',
    type: 'image_generation_user_error',
    param: null,
    code: 'moderation_blocked',
  };
  rig.upstream.answer('gpt-image-2', { status: 400, body: { error } });
  const answer = await draw();
  expect([answer.status, answer.json]).toEqual([400, { error }]);
  expect(await rig.recordOf(answer)).toMatchObject({ cost_nano_usd: '0' });
});

describe('edits', () => {
  test('as JSON, with the image in the body', async () => {
    rig.upstream.answer('gpt-image-2', { body: image({ usage: USAGE }) });
    const images = [{ image_url: `data:image/png;base64,${PIXEL.toString('base64')}` }];
    const answer = await rig.post('/v1/images/edits', { model: 'draw', prompt: 'greener', images });
    const [sent] = rig.upstream.served('gpt-image-2').slice(-1);
    expect([answer.status, sent?.path, JSON.parse(String(sent?.body))]).toEqual([
      200,
      '/v1/images/edits',
      { model: 'gpt-image-2', prompt: 'greener', images },
    ]);
    expect(await rig.recordOf(answer)).toMatchObject({ cost_nano_usd: String(COST) });
  });

  test.each([
    ['images', { images: [{ file_id: 'file-1' }] }, 'images.0.file_id'],
    ['the mask', { images: [{ image_url: 'https://a.example/a.png' }], mask: { file_id: 'file-1' } }, 'mask.file_id'],
  ])('a file of another workspace is not found in %s', async (_, members, param) => {
    const answer = await rig.post('/v1/images/edits', { model: 'draw', prompt: 'greener', ...members });
    expect([answer.status, answer.json.error.param]).toEqual([404, param]);
  });

  test('an address that the operator’s account could read is refused', async () => {
    const images = [{ image_url: 'gs://bucket/a.png' }];
    const answer = await rig.post('/v1/images/edits', { model: 'draw', prompt: 'greener', images });
    expect([answer.status, answer.json.error.param]).toEqual([400, 'images.0.image_url']);
  });

  test('without an image are refused', async () => {
    const answer = await rig.post('/v1/images/edits', { model: 'draw', prompt: 'greener' });
    expect([answer.status, answer.json.error.param]).toEqual([400, 'image']);
  });

  test('as forms of the OpenAI client: every byte of the files arrives, and the model has its name there', async () => {
    rig.upstream.answer('', { body: image({ usage: USAGE }) });
    const client = new OpenAI({ apiKey: rig.gateway.key, baseURL: `${rig.gateway.url}/v1`, maxRetries: 0 });
    const file = () => toFile(PIXEL, 'a.png', { type: 'image/png' });
    const edited = await client.images.edit({
      model: 'draw',
      prompt: 'greener',
      n: 1,
      image: [await file(), await file()],
    });
    expect(edited.usage?.total_tokens).toBe(1795);
    const [sent] = rig.upstream.served('').slice(-1);
    const form = await new Response(new Uint8Array(sent?.body ?? []), {
      headers: { 'content-type': sent?.headers.get('content-type') ?? '' },
    }).formData();
    expect([sent?.path, form.get('model'), form.get('prompt'), form.getAll('image[]').length]).toEqual([
      '/v1/images/edits',
      'gpt-image-2',
      'greener',
      2,
    ]);
    const [first] = form.getAll('image[]') as unknown as readonly Blob[];
    expect(Buffer.from(await (first as Blob).arrayBuffer()).equals(PIXEL)).toBe(true);
  });

  test('variations are forms with one image', async () => {
    rig.upstream.answer('', { body: image() });
    const client = new OpenAI({ apiKey: rig.gateway.key, baseURL: `${rig.gateway.url}/v1`, maxRetries: 0 });
    const varied = await client.images.createVariation({
      model: 'dall-e-3',
      image: await toFile(PIXEL, 'a.png'),
      size: '256x256',
    });
    expect([varied.data?.length, rig.upstream.served('').at(-1)?.path]).toEqual([1, '/v1/images/variations']);
  });
});

describe.skipIf(recordings.length === 0)('recorded images (needs the recordings)', () => {
  test('pass byte for byte, with the recorded usage', async () => {
    expect(recordings.length).toBeGreaterThan(6);
    for (const recording of recordings) {
      const bytes = Buffer.from(recordingBytes(recording));
      rig.upstream.answer(`dall-e:${recording.id}`, { body: bytes });
      const path = recording.request?.path ?? '';
      const answer = await rig.post(path, { ...asObject(recording.request?.body), model: `rec:${recording.id}` });
      expect([recording.id, answer.status, answer.bytes.equals(bytes)]).toEqual([recording.id, 200, true]);
      const { usage } = JSON.parse(bytes.toString());
      const record = await rig.recordOf(answer);
      const images = JSON.parse(bytes.toString()).data.length;
      const estimated = estimateImageTokens({ images, image_kind: String(record?.usage.image_kind) });
      expect([recording.id, record?.usage.output]).toEqual([recording.id, usage?.output_tokens ?? estimated]);
      expect([recording.id, record?.usage.images]).toEqual([recording.id, images]);
    }
  });
});
