/** Tests speech, transcriptions and translations through a running gateway: bytes, usage in all shapes, money, refusals. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import OpenAI, { toFile } from 'openai';
import { type Recording, recordingBytes, recordingHeaders } from '../fake-upstream/recording.ts';
import { loadRecordings } from '../fake-upstream/recordings.ts';
import { eventually } from '../harness/eventually.ts';
import { type AudioRig, startAudioRig, wavOf } from './audio-rig.ts';

const NANO = 1_000_000_000;
const recordings = loadRecordings({ api: 'openai-audio' }) ?? [];
const FREE = { input: 0, output: 0 };
const PRICES: Readonly<Record<string, object>> = {
  'tts-1': { ...FREE, per_unit: { character: 0.000015 } },
  'gpt-4o-mini-tts': { input: 0.6, output: 12 },
  'whisper-1': { ...FREE, per_unit: { second: 0.0001 } },
  'gpt-4o-transcribe': { input: 2.5, output: 10, audio_input: 6 },
  'voxtral-transcribe': { input: 1, output: 3, audio_input: 2 },
};

function configFor(url: string): object {
  const lab = { kind: 'openai-compatible', base_url: `${url}/v1`, api_key: 'lab-credential' };
  const models = Object.entries(PRICES).map(([model, price]) => [
    model,
    { targets: [{ provider: 'lab', model }], price },
  ]);
  const recorded = recordings.map(({ id }) => [
    `rec:${id}`,
    {
      targets: [{ provider: 'lab', model: `audio:${id}` }],
      price: { ...FREE, audio_input: 1, per_unit: { second: 1 } },
      protocols: ['audio'],
    },
  ]);
  return {
    defaults: { routing: { max_extra_attempts: 0 } },
    providers: { lab },
    models: {
      ...Object.fromEntries([...models, ...recorded]),
      house: { targets: [{ provider: 'lab', model: 'whisper-1' }], price: PRICES['whisper-1'] },
      chatty: { targets: [{ provider: 'lab', model: 'chatty' }], price: { input: 1, output: 1 } },
    },
  };
}

let rig: AudioRig;
beforeAll(async () => {
  rig = await startAudioRig(configFor);
}, 60_000);
afterAll(() => rig.stop());

const speak = (members: object, headers = {}) =>
  rig.post('/v1/audio/speech', { model: 'tts-1', input: 'hi', voice: 'alloy', ...members }, headers);

function formOf(members: Readonly<Record<string, string>>, file: Buffer = wavOf(3.7)): FormData {
  const form = new FormData();
  form.append('file', new Blob([new Uint8Array(file)], { type: 'audio/wav' }), 'speech.wav');
  for (const [name, value] of Object.entries(members)) form.append(name, value);
  return form;
}
const transcribe = (members: Readonly<Record<string, string>>, path = 'transcriptions', file?: Buffer) =>
  rig.post(`/v1/audio/${path}`, formOf(members, file));

const sse = (...events: readonly object[]) =>
  `${events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')}data: [DONE]\n\n`;
const EVENTS = { 'content-type': 'text/event-stream' };

describe('speech', () => {
  test('7: passes as bytes with its type, and its Unicode characters are billed', async () => {
    const sound = Buffer.from([0, 255, 13, 10, 1]);
    rig.upstream.answer('tts-1', { body: sound, headers: { 'content-type': 'audio/pcm;rate=24000' } });
    const answer = await speak({ input: 'naïve 😀', response_format: 'pcm' });
    expect([answer.status, answer.headers.get('content-type'), answer.bytes.equals(sound)]).toEqual([
      200,
      'audio/pcm;rate=24000',
      true,
    ]);
    const sent = rig.upstream.served('tts-1').at(-1);
    expect([sent?.path, sent?.headers.get('accept'), sent?.headers.get('content-type')]).toEqual([
      '/v1/audio/speech',
      '*/*',
      'application/json',
    ]);
    expect(await rig.recordOf(answer)).toMatchObject({
      protocol: 'audio',
      stream: false,
      error: null,
      usage: { input: 0, output: 0, characters: 7 },
      usage_source: 'counted',
      cost_nano_usd: String(7 * 0.000015 * NANO),
    });
  });

  test('of a model that is priced by tokens is billed by its duration', async () => {
    rig.upstream.answer('gpt-4o-mini-tts', { body: Buffer.alloc(96_000), headers: { 'content-type': 'audio/pcm' } });
    const record = await rig.recordOf(await speak({ model: 'gpt-4o-mini-tts', response_format: 'pcm' }));
    expect(record).toMatchObject({ usage_source: 'counted', usage: { output: 40, audio_output: 40, characters: 2 } });
    expect(record?.cost_nano_usd).toBe(String((record?.usage.input ?? 0) * 600 + 40 * 12_000));
  });

  test('as events is billed by the tokens that its last event reports', async () => {
    const text = sse(
      { type: 'speech.audio.delta', audio: 'AAAA' },
      { type: 'speech.audio.done', usage: { input_tokens: 14, output_tokens: 101, total_tokens: 115 } },
    );
    rig.upstream.answer('gpt-4o-mini-tts', { body: text, headers: EVENTS });
    const answer = await speak({ model: 'gpt-4o-mini-tts', stream_format: 'sse' });
    expect([answer.text, answer.headers.get('content-type')]).toEqual([text, 'text/event-stream; charset=utf-8']);
    expect(await rig.recordOf(answer)).toMatchObject({
      stream: true,
      usage: { input: 14, output: 101, audio_output: 101, characters: 2 },
      usage_source: 'upstream',
      cost_nano_usd: String(14 * 600 + 101 * 12_000),
    });
  });

  /** Two seconds. */
  const delta = { type: 'speech.audio.delta', audio: Buffer.alloc(96_000).toString('base64') };
  const SPOKEN = { output: 40, audio_output: 40 };

  test.each([
    ['its type first', delta],
    ['its type after the sound', { audio: delta.audio, type: delta.type }],
  ])('as events without usage is billed by its duration: %s', async (_, event) => {
    rig.upstream.answer('gpt-4o-mini-tts', { body: sse(event, { type: 'speech.audio.done' }), headers: EVENTS });
    const answer = await speak({ model: 'gpt-4o-mini-tts', stream_format: 'sse', response_format: 'pcm' });
    const record = await rig.recordOf(answer);
    expect(record).toMatchObject({ usage_source: 'counted', error: null, usage: SPOKEN });
    expect(record?.cost_nano_usd).toBe(String((record?.usage.input ?? 0) * 600 + 40 * 12_000));
  });

  test('as events is billed as far as it came to a client that leaves', async () => {
    const body = sse(delta).replace('data: [DONE]\n\n', '');
    rig.upstream.answer('gpt-4o-mini-tts', { body, headers: EVENTS, stays: true });
    const client = new AbortController();
    const asked = { input: 'hi', voice: 'alloy', stream_format: 'sse', response_format: 'pcm' };
    const reply = await fetch(`${rig.gateway.url}/v1/audio/speech`, {
      method: 'POST',
      headers: { authorization: `Bearer ${rig.gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-4o-mini-tts', ...asked }),
      signal: client.signal,
    });
    await reply.body?.getReader().read();
    client.abort();
    const id = reply.headers.get('x-request-id');
    const record = await eventually('the record', async () => {
      return (await rig.gateway.calls()).find(({ request_id }) => request_id === id) ?? null;
    });
    expect(record).toMatchObject({ error: 'client_left', usage: SPOKEN });
  });

  test.each([
    ['JSON', { 'content-type': 'application/json' }, '{"audio":"AAAA"}'],
    ['a page', { 'content-type': 'text/html' }, '<html></html>'],
    ['nothing', { 'content-type': 'audio/mpeg' }, ''],
  ])('that is %s is a failure of the provider', async (_, headers, body) => {
    rig.upstream.answer('tts-1', { body, headers });
    const answer = await speak({});
    expect([answer.status, JSON.parse(answer.text).error.code]).toEqual([500, 'internal_error']);
    expect(await rig.recordOf(answer)).toMatchObject({ error: 'upstream_malformed', cost_nano_usd: '0' });
  });

  test('in a voice of the operator is refused, as one that does not exist', async () => {
    const before = rig.upstream.served('tts-1').length;
    const refused = await speak({ voice: { id: 'voice_1' } });
    expect([refused.status, JSON.parse(refused.text).error.param]).toEqual([404, 'voice']);
    expect(rig.upstream.served('tts-1')).toHaveLength(before);
  });

  test('that the provider refuses passes its refusal', async () => {
    const body = { error: { message: 'no such voice', type: 'invalid_request_error', param: 'voice', code: null } };
    rig.upstream.answer('tts-1', { status: 400, body });
    const answer = await speak({ voice: 'nobody' });
    expect([answer.status, JSON.parse(answer.text)]).toEqual([400, body]);
    expect(await rig.recordOf(answer)).toMatchObject({ cost_nano_usd: '0' });
  });

  test.each([
    [{ input: undefined }, 'input'],
    [{ input: '' }, 'input'],
    [{ model: undefined }, 'model'],
    [{ stream_format: 5 }, 'stream_format'],
  ])('%j is refused by name', async (members, param) => {
    const { status, text } = await speak(members);
    expect([status, JSON.parse(text).error.param]).toEqual([400, param]);
  });
});

describe('a transcription', () => {
  test.each<[string, string, Readonly<Record<string, string>>, object | string, object, number]>([
    [
      '8: seconds that the answer reports',
      'whisper-1',
      {},
      { text: 'hi', usage: { type: 'duration', seconds: 4 } },
      { seconds: 4 },
      4 * 0.0001,
    ],
    [
      '8: text, by the seconds of its file',
      'whisper-1',
      { response_format: 'text' },
      'hi\n',
      { seconds: 4 },
      4 * 0.0001,
    ],
    [
      'text that is too long for the seconds of its file',
      'whisper-1',
      { response_format: 'text' },
      'x'.repeat(601),
      { seconds: 10 },
      10 * 0.0001,
    ],
    [
      'subtitles that last longer than the seconds of their file',
      'whisper-1',
      { response_format: 'srt' },
      '1\n00:00:00,000 --> 00:01:10,000\nhi\n',
      { seconds: 40 },
      40 * 0.0001,
    ],
    [
      'the duration of the answer before that of the file',
      'whisper-1',
      { response_format: 'verbose_json' },
      { text: 'hi', duration: 5.2 },
      { seconds: 6 },
      6 * 0.0001,
    ],
    [
      'tokens',
      'gpt-4o-transcribe',
      {},
      {
        text: 'hi',
        usage: {
          type: 'tokens',
          input_tokens: 42,
          input_token_details: { audio_tokens: 37, text_tokens: 5 },
          output_tokens: 12,
          total_tokens: 54,
        },
      },
      { input: 42, audio_input: 37, output: 12, seconds: 4 },
      (5 * 2.5 + 37 * 6 + 12 * 10) / 1e6,
    ],
    [
      '9: tokens of sound outside of the prompt',
      'voxtral-transcribe',
      {},
      {
        text: 'hi',
        usage: {
          prompt_audio_seconds: 3,
          prompt_tokens: 5,
          completion_tokens: 20,
          total_tokens: 400,
          prompt_tokens_details: { audio_tokens: 375 },
        },
      },
      { input: 380, audio_input: 375, output: 20, seconds: 3 },
      (5 * 1 + 375 * 2 + 20 * 3) / 1e6,
    ],
  ])('is billed by %s', async (_, model, members, body, usage, usd) => {
    const headers = { 'content-type': typeof body === 'string' ? 'text/plain' : 'application/json' };
    rig.upstream.answer(model, { body, headers });
    const answer = await transcribe({ model, ...members });
    expect([answer.status, answer.text]).toEqual([200, typeof body === 'string' ? body : JSON.stringify(body)]);
    expect(answer.headers.get('content-type')).toStartWith(headers['content-type']);
    const record = await rig.recordOf(answer);
    expect(record).toMatchObject({
      protocol: 'audio',
      usage,
      cost_nano_usd: String(Math.round(usd * NANO)),
      error: null,
    });
    expect(record?.usage_flags).toBeUndefined();
    expect(record?.usage_source).toBe(typeof body === 'object' && 'usage' in body ? 'upstream' : 'counted');
  });

  test('goes upstream byte for byte, save its model, with a length and without headers of the client', async () => {
    rig.upstream.answer('whisper-1', { body: { text: 'hi' } });
    const answer = await transcribe({ model: 'house', language: 'en' });
    const sent = rig.upstream.served('whisper-1').at(-1);
    expect([answer.status, sent?.path]).toEqual([200, '/v1/audio/transcriptions']);
    const type = sent?.headers.get('content-type') ?? '';
    const received = await new Response(new Uint8Array(sent?.body ?? []), {
      headers: { 'content-type': type },
    }).formData();
    expect([received.get('model'), received.get('language')]).toEqual(['whisper-1', 'en']);
    expect(Buffer.from(await (received.get('file') as File).arrayBuffer()).equals(wavOf(3.7))).toBe(true);
    expect((received.get('file') as File).name).toBe('speech.wav');
    expect([sent?.headers.get('authorization'), sent?.headers.get('content-length')]).toEqual([
      'Bearer lab-credential',
      String(sent?.body.length),
    ]);
  });

  test('streams its events byte for byte, to [DONE]', async () => {
    const usage = {
      type: 'tokens',
      input_tokens: 37,
      input_token_details: { audio_tokens: 37 },
      output_tokens: 2,
      total_tokens: 39,
    };
    const text = sse(
      { type: 'transcript.text.delta', delta: 'hi' },
      { type: 'transcript.text.done', text: 'hi', usage },
    );
    rig.upstream.answer('gpt-4o-transcribe', { body: text, headers: EVENTS });
    const answer = await transcribe({ model: 'gpt-4o-transcribe', stream: 'true' });
    expect(answer.text).toBe(text);
    expect(await rig.recordOf(answer)).toMatchObject({
      stream: true,
      usage: { input: 37, audio_input: 37, output: 2 },
      cost_nano_usd: String(37 * 6_000 + 2 * 10_000),
    });
  });

  test('streamed is billed by the seconds that its text takes, whatever its tokens', async () => {
    const usage = { type: 'tokens', input_tokens: 9, output_tokens: 2, total_tokens: 11 };
    const body = sse({ type: 'transcript.text.done', text: 'x'.repeat(600), usage });
    rig.upstream.answer('whisper-1', { body, headers: EVENTS });
    const record = await rig.recordOf(await transcribe({ model: 'whisper-1', stream: 'true' }));
    expect(record).toMatchObject({ usage: { input: 9, output: 2, seconds: 10 }, cost_nano_usd: String(0.001 * NANO) });
  });

  test.each<[string, object, number]>([
    ['its usage', { text: 'hello there', usage: { type: 'duration', seconds: 5 } }, 5],
    ['its duration', { text: 'hello there', duration: 6.2, segments: [] }, 7],
    ['its file', { text: 'hello there' }, 4],
  ])('of a model that ignores `stream` is streamed, and billed by %s', async (_, body, seconds) => {
    rig.upstream.answer('whisper-1', { body });
    const client = new OpenAI({ apiKey: rig.gateway.key, baseURL: `${rig.gateway.url}/v1`, maxRetries: 0 });
    const file = await toFile(wavOf(3.7), 'speech.wav');
    const stream = await client.audio.transcriptions.create({ model: 'whisper-1', file, stream: true });
    const events: unknown[] = [];
    for await (const event of stream) events.push(event);
    expect(events).toEqual([
      { type: 'transcript.text.delta', delta: 'hello there' },
      { ...body, type: 'transcript.text.done' },
    ]);
    const [record] = await rig.gateway.calls('--limit', '1');
    expect(record).toMatchObject({
      stream: true,
      error: null,
      usage: { seconds },
      cost_nano_usd: String(seconds * 1e5),
    });
  });

  test.each([
    ['text', 'text/plain', 'hello there'],
    ['srt', 'application/octet-stream', '1\n00:00:00,000 --> 00:00:03,700\nhello there\n'],
  ])('as %s of a model that ignores `stream` is streamed', async (response_format, type, body) => {
    rig.upstream.answer('whisper-1', { body, headers: { 'content-type': type } });
    const answer = await transcribe({ model: 'whisper-1', response_format, stream: 'true' });
    expect(answer.text).toBe(
      [
        { type: 'transcript.text.delta', delta: body },
        { text: body, type: 'transcript.text.done' },
      ]
        .map((event) => `data: ${JSON.stringify(event)}\n\n`)
        .join(''),
    );
    expect(await rig.recordOf(answer)).toMatchObject({ error: null, stream: true });
  });

  test.each([
    ['without its end', sse({ type: 'transcript.text.delta', delta: 'hi' }).replace('data: [DONE]\n\n', '')],
    [
      'with an error',
      'data: {"type":"transcript.text.delta","delta":"hi"}\n\ndata: {"type":"error","error":{"message":"down","type":"server_error"}}\n\n',
    ],
  ])('streamed %s ends with an error, not with [DONE]', async (_, body) => {
    rig.upstream.answer('gpt-4o-transcribe', { body, headers: EVENTS });
    const answer = await transcribe({ model: 'gpt-4o-transcribe', stream: 'true' });
    expect([answer.status, answer.text.includes('"error"'), answer.text.includes('[DONE]')]).toEqual([
      200,
      true,
      false,
    ]);
    expect((await rig.recordOf(answer))?.error).toStartWith('upstream_');
  });

  test('a translation goes to its own path, and is billed by the seconds of its file', async () => {
    rig.upstream.answer('whisper-1', { body: { text: 'hello' } });
    const answer = await transcribe({ model: 'whisper-1' }, 'translations', wavOf(2));
    expect(rig.upstream.served('whisper-1').at(-1)?.path).toBe('/v1/audio/translations');
    expect(await rig.recordOf(answer)).toMatchObject({ usage: { seconds: 2 }, usage_source: 'counted' });
  });

  test('of a file of unknown format is billed by its bytes', async () => {
    rig.upstream.answer('whisper-1', { body: { text: 'hello' } });
    const answer = await transcribe({ model: 'whisper-1' }, 'transcriptions', Buffer.alloc(32_001));
    expect(await rig.recordOf(answer)).toMatchObject({ usage: { seconds: 3 }, usage_source: 'counted' });
  });

  test.each<[Readonly<Record<string, string>>, string]>([
    [{}, 'model'],
    [{ model: 'whisper-1', stream: 'maybe' }, 'stream'],
  ])('%j is refused by name', async (members, param) => {
    const { status, text } = await transcribe(members);
    expect([status, JSON.parse(text).error.param]).toEqual([400, param]);
  });

  test('without a file, or as JSON, is refused', async () => {
    const form = new FormData();
    form.append('model', 'whisper-1');
    const [noFile, json] = await Promise.all([
      rig.post('/v1/audio/transcriptions', form),
      rig.post('/v1/audio/transcriptions', { model: 'whisper-1' }),
    ]);
    expect([noFile.status, JSON.parse(noFile.text).error.param]).toEqual([400, 'file']);
    expect([json.status, JSON.parse(json.text).error.message]).toEqual([
      400,
      expect.stringContaining('multipart/form-data'),
    ]);
  });
});

test('an idempotency key is refused on every path: no answer is stored', async () => {
  const headers = { 'idempotency-key': 'one' };
  for (const answer of [
    await speak({}, headers),
    await rig.post('/v1/audio/transcriptions', formOf({ model: 'whisper-1' }), headers),
  ]) {
    expect([answer.status, JSON.parse(answer.text).error.param]).toEqual([400, 'idempotency-key']);
  }
});

test('a model of another kind is not served here', async () => {
  const answer = await speak({ model: 'chatty' });
  expect([answer.status, JSON.parse(answer.text).error.message]).toEqual([
    404,
    expect.stringContaining('POST /v1/chat/completions'),
  ]);
});

test('the OpenAI client speaks, writes down and translates', async () => {
  const client = new OpenAI({ apiKey: rig.gateway.key, baseURL: `${rig.gateway.url}/v1`, maxRetries: 0 });
  rig.upstream.answer('tts-1', { body: Buffer.from('sound'), headers: { 'content-type': 'audio/mpeg' } });
  const spoken = await client.audio.speech.create({ model: 'tts-1', input: 'hi', voice: 'alloy' });
  expect(Buffer.from(await spoken.arrayBuffer()).toString()).toBe('sound');
  const file = () => toFile(new Uint8Array(wavOf(1)), 'speech.wav');
  rig.upstream.answer('whisper-1', { body: { text: 'hi', usage: { type: 'duration', seconds: 1 } } });
  expect(await client.audio.transcriptions.create({ file: await file(), model: 'house' })).toMatchObject({
    text: 'hi',
  });
  expect(await client.audio.translations.create({ file: await file(), model: 'whisper-1' })).toMatchObject({
    text: 'hi',
  });
  rig.upstream.answer('whisper-1', { body: 'hi\n', headers: { 'content-type': 'text/plain' } });
  const text: unknown = await client.audio.transcriptions.create({
    file: await file(),
    model: 'house',
    response_format: 'text',
  });
  expect(text).toBe('hi\n');
  const done = {
    type: 'transcript.text.done',
    text: 'hi',
    usage: { type: 'tokens', input_tokens: 1, output_tokens: 1, total_tokens: 2 },
  };
  rig.upstream.answer('gpt-4o-transcribe', {
    body: sse({ type: 'transcript.text.delta', delta: 'hi' }, done),
    headers: EVENTS,
  });
  const types: string[] = [];
  const stream = await client.audio.transcriptions.create({
    file: await file(),
    model: 'gpt-4o-transcribe',
    stream: true,
  });
  for await (const { type } of stream) types.push(type);
  expect(types).toEqual(['transcript.text.delta', 'transcript.text.done']);
});

describe.skipIf(recordings.length === 0)('recorded audio (needs the recordings)', () => {
  test('passes byte for byte, with the recorded usage', async () => {
    expect(recordings.length).toBeGreaterThan(15);
    for (const recording of recordings) {
      const bytes = Buffer.from(recordingBytes(recording));
      rig.upstream.answer(`audio:${recording.id}`, {
        body: bytes,
        headers: Object.fromEntries(recordingHeaders(recording)),
      });
      const answer = await replay(recording);
      // One recorded an answer of text as an object that has it.
      const isOdd = recording.provider === 'groq';
      expect([recording.id, answer.status, isOdd || answer.bytes.equals(bytes)]).toEqual([
        recording.id,
        isOdd ? 500 : 200,
        true,
      ]);
      if (!isOdd)
        expect([recording.id, (await rig.recordOf(answer))?.usage]).toEqual([recording.id, usageOf(recording)]);
    }
  });
});

function replay({ id, stream, request }: Recording) {
  const model = `rec:${id}`;
  const body = request?.body as { readonly input?: string; readonly response_format?: string } | undefined;
  if (request?.path.endsWith('/speech') === true) {
    return speak({ model, input: body?.input, response_format: body?.response_format });
  }
  return transcribe(
    { model, stream: String(stream) },
    request?.path.endsWith('/translations') === true ? 'translations' : 'transcriptions',
  );
}

/** By an independent reading of the recorded answer. The form has 3.7 seconds. */
function usageOf({ request, response, stream }: Recording): Readonly<Record<string, number>> {
  const zero = { cache_read: 0, cache_write_5m: 0, cache_write_1h: 0, reasoning: 0 };
  if (request?.path.endsWith('/speech') === true) {
    const { input } = request.body as { readonly input: string };
    return expect.objectContaining({ ...zero, characters: [...input].length }) as unknown as Readonly<
      Record<string, number>
    >;
  }
  const done = stream ? /^data: (\{"type":"transcript.text.done".*\})/m.exec(String(response.body))?.[1] : undefined;
  // biome-ignore lint/suspicious/noExplicitAny: a recorded answer may have any form.
  const usage = (done === undefined ? (response.body as any) : JSON.parse(done)).usage;
  if (usage === undefined || usage.type === 'duration') {
    const { duration } = response.body as { readonly duration?: number };
    return { ...zero, input: 0, output: 0, seconds: usage?.seconds ?? Math.ceil(duration ?? 3.7) };
  }
  const sound = usage.prompt_tokens_details?.audio_tokens ?? usage.input_token_details?.audio_tokens ?? 0;
  const input = usage.prompt_tokens === undefined ? usage.input_tokens : usage.total_tokens - usage.completion_tokens;
  const output = usage.output_tokens ?? usage.completion_tokens;
  return {
    ...zero,
    input,
    output,
    ...(sound === 0 ? {} : { audio_input: sound }),
    seconds: usage.prompt_audio_seconds ?? 4,
  };
}
