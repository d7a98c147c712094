/**
 * Replays the recorded Gemini interactions through a running gateway to an upstream of the format: the client gets
 * upstream's bytes and upstream the client's, however the stream is split, and the record has the recorded usage.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Recording, recordingBytes } from '../../fake-upstream/recording.ts';
import { loadRecordings } from '../../fake-upstream/recordings.ts';
import type { CallLine } from '../../harness/start-gateway.ts';
import { type Pair, startPair } from '../../harness/start-pair.ts';
import { expectedOf } from '../gemini/answer-oracle.ts';

const recordings = (loadRecordings({ api: 'gemini-generate' }) ?? []).filter(
  ({ request, response }) =>
    request?.method === 'POST' &&
    typeof request.body === 'object' &&
    !request.path.includes('countTokens') &&
    // Streams are served as events only.
    response.body_encoding !== 'json-array-stream',
);
const AT_ONCE = 8;

/** Each recording has a provider of its own, because a recorded error says nothing about the next replay. */
function configFor(fakeUrl: string): object {
  const providers = recordings.map((_, index) => [
    `google-${index}`,
    { kind: 'gemini', base_url: fakeUrl, api_key: 'AIza-upstream-0123456789' },
  ]);
  const models = recordings.map(({ id }, index) => [
    nameOf(index),
    { targets: [{ provider: `google-${index}`, model: `rec:${id}` }], price: { input: 1, cache_read: 0.1, output: 5 } },
  ]);
  return {
    defaults: { routing: { max_extra_attempts: 0 } },
    providers: Object.fromEntries(providers),
    models: Object.fromEntries(models),
  };
}

const nameOf = (index: number) => `public-${index}`;

interface Replayed {
  readonly recording: Recording;
  readonly sent: string;
  readonly status: number;
  readonly body: Buffer;
  readonly record: CallLine | undefined;
}

async function replay({ gateway, fake }: Pair): Promise<Replayed[]> {
  const seen: Array<Omit<Replayed, 'record'> & { readonly requestId: string }> = [];
  const waiting = recordings.entries();
  const work = async () => {
    for (const [index, recording] of waiting) {
      const model = `rec:${recording.id}`;
      if (recording.stream)
        fake.script(model, { answer: model, chunking: index % 3 === 0 ? 'all' : { sizes: [7, 1, 64, 3] } });
      const method = recording.stream ? 'streamGenerateContent?alt=sse' : 'generateContent';
      const sent = JSON.stringify(recording.request?.body, null, index % 3 === 1 ? '\t' : undefined);
      const reply = await fetch(`${gateway.url}/v1beta/models/${nameOf(index)}:${method}`, {
        method: 'POST',
        headers: { 'x-goog-api-key': gateway.key, 'content-type': 'application/json' },
        body: sent,
      });
      const requestId = reply.headers.get('x-request-id') ?? '';
      seen.push({ recording, sent, status: reply.status, body: Buffer.from(await reply.arrayBuffer()), requestId });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  const records = new Map((await gateway.calls()).map((record) => [record.request_id, record]));
  return seen.map(({ requestId, ...rest }) => ({ ...rest, record: records.get(requestId) }));
}

describe.skipIf(recordings.length === 0)('recorded Gemini (needs the recordings)', () => {
  let pair: Pair;
  let replays: readonly Replayed[] = [];
  beforeAll(async () => {
    pair = await startPair(configFor);
    replays = await replay(pair);
  }, 120_000);
  afterAll(() => pair.stop());

  const answered = () => replays.filter(({ recording, status }) => status === 200 && recording.response.status === 200);

  test('are answered, save those that name stored content', () => {
    expect(replays.length).toBeGreaterThan(150);
    const refused = replays.filter(({ status, recording }) => status !== 200 && recording.response.status === 200);
    expect(refused.length).toBeLessThan(20);
    for (const { recording, body } of refused) {
      const { message } = JSON.parse(body.toString()).error;
      expect([recording.id, message]).toEqual([
        recording.id,
        expect.stringMatching(/operator's account|is not stored/),
      ]);
    }
  });

  test('the client gets the recorded bytes', () => {
    for (const { recording, body } of answered()) {
      const wanted = Buffer.from(recordingBytes(recording));
      expect([recording.id, body.toString() === wanted.toString()]).toEqual([recording.id, true]);
    }
  });

  test('upstream gets the client’s bytes', () => {
    for (const { recording, sent } of answered()) {
      const [call] = pair.fake.served(`rec:${recording.id}`);
      expect([recording.id, Buffer.from(call?.requestBody ?? []).toString() === sent]).toEqual([recording.id, true]);
    }
  });

  test('the record has the usage that an independent reading finds', () => {
    for (const { recording, record } of answered()) {
      const expected = expectedOf(recording);
      if (expected.usage === null) continue;
      const { input, cache_read, output, reasoning } = expected.usage;
      const cost = BigInt(input) * 1000n + BigInt(cache_read) * 100n + BigInt(output) * 5000n;
      expect([recording.id, record?.protocol, record?.usage, record?.usage_source, record?.cost_nano_usd]).toEqual([
        recording.id,
        'gemini',
        expect.objectContaining({ input, cache_read, output, reasoning }),
        'upstream',
        String(cost),
      ]);
    }
  });
});
