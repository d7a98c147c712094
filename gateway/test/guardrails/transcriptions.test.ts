/** Tests that nothing of a transcription spells what guardrails mask in it: words, token ids, probabilities. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { newTenant, type Tenant } from '../cache/cache-rig.ts';
import { type AudioRig, startAudioRig, wavOf } from '../endpoints/audio-rig.ts';
import { control } from '../http-contract/make-key.ts';

let rig: AudioRig;
let tenant: Tenant;

beforeAll(async () => {
  rig = await startAudioRig((url) => ({
    providers: { lab: { kind: 'openai-compatible', base_url: `${url}/v1`, api_key: 'none' } },
    models: {
      'whisper-1': {
        targets: [{ provider: 'lab' }],
        price: { input: 0, output: 0, per_unit: { second: 0.0001 } },
      },
    },
  }));
  tenant = await newTenant(rig.gateway, {});
  const rule = { name: 'phones', check: 'personal_data', side: 'answer', action: 'mask' };
  await control(rig.gateway, 'guardrails.create', { account: tenant.account, ...rule });
}, 60_000);
afterAll(() => rig.stop());

function transcribe(members: Readonly<Record<string, string>>) {
  const form = new FormData();
  form.append('file', new Blob([new Uint8Array(wavOf(1))], { type: 'audio/wav' }), 'speech.wav');
  form.append('model', 'whisper-1');
  for (const [name, value] of Object.entries(members)) form.append(name, value);
  return rig.post('/v1/audio/transcriptions', form, { authorization: `Bearer ${tenant.key}` });
}

const TEXT = 'Call +1 415 555 0132 now.';
const MASKED = /^Call \[PHONE_[0-9a-f]{8}\] now\.$/;
const words = TEXT.split(' ').map((word, at) => ({ word, start: at, end: at + 1 }));

test('words and token ids are left out of an answer, and its texts are masked', async () => {
  const segments = [{ id: 0, start: 0, end: 5, text: TEXT, tokens: [5, 6], words }];
  rig.upstream.answer('whisper-1', { body: { text: TEXT, duration: 5, segments, words } });
  const answer = await transcribe({ response_format: 'verbose_json' });
  const shown = JSON.parse(answer.text);
  expect([answer.status, shown.text, shown.segments[0].text]).toEqual([
    200,
    expect.stringMatching(MASKED),
    expect.stringMatching(MASKED),
  ]);
  expect([shown.words, shown.segments[0].words, shown.segments[0].tokens, shown.duration]).toEqual([[], [], [], 5]);
});

test('probabilities are left out of a stream', async () => {
  const delta = { type: 'transcript.text.delta', delta: TEXT, logprobs: [{ token: TEXT, logprob: -1 }] };
  const done = { type: 'transcript.text.done', text: TEXT, logprobs: delta.logprobs };
  const body = [delta, done].map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
  rig.upstream.answer('whisper-1', { body, headers: { 'content-type': 'text/event-stream' } });
  const { text } = await transcribe({ stream: 'true' });
  expect([text.includes('415'), text.match(/"logprobs":\[\]/g)?.length]).toEqual([false, 2]);
});

test.each([
  ['timestamp_granularities[]', 'word'],
  ['timestamp_granularities', 'word,segment'],
  ['include[]', 'logprobs'],
])('a request for them is refused: %s', async (name, value) => {
  const refused = await transcribe({ [name]: value });
  expect([refused.status, JSON.parse(refused.text).error.param]).toEqual([400, name]);
});

test('segments may be asked for', async () => {
  rig.upstream.answer('whisper-1', { body: { text: 'hi' } });
  expect((await transcribe({ 'timestamp_granularities[]': 'segment' })).status).toBe(200);
});
