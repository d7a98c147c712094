/**
 * Replays every answer of the corpus and of the recordings through a running gateway, to clients of both formats, in the
 * recording's own mode and, where it came in one piece, as a stream too: status, words and record are as recorded.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type RecordingSet, recordingSets } from '../../fake-upstream/recordings.ts';
import type { CallLine } from '../../harness/start-gateway.ts';
import { type Pair, startPair } from '../../harness/start-pair.ts';
import type { Format } from '../translation/format.ts';
import { expectedOf, isStream } from './answer-oracle.ts';

const AT_ONCE = 8;
const PATHS: { readonly [format in Format]: string } = { chat: '/v1/chat/completions', messages: '/v1/messages' };
const FORMATS = ['chat', 'messages'] as const;

interface Replay {
  readonly id: string;
  readonly format: Format;
  readonly stream: boolean;
}

interface Replayed extends Replay {
  readonly status: number;
  readonly text: string;
  readonly record: CallLine | undefined;
}

function replaysOf({ recordings }: RecordingSet): Replay[] {
  return recordings
    .filter(({ request }) => request?.path.includes(':countTokens') !== true)
    .flatMap((recording) =>
      FORMATS.flatMap((format) => {
        const modes = isStream(recording) || recording.stream ? [true] : [false, true];
        return modes.map((stream) => ({ id: recording.id, format, stream }));
      }),
    );
}

/** Each recording has a provider of its own, because a recorded error says nothing about the next replay. */
function configFor(fakeUrl: string, { recordings }: RecordingSet): object {
  const providers: Record<string, object> = {};
  const models: Record<string, object> = {};
  for (const [index, { id }] of recordings.entries()) {
    for (const format of FORMATS) {
      const provider = `google-${format}-${index}`;
      providers[provider] = { kind: 'gemini', base_url: fakeUrl, api_key: 'AIza-upstream-0123456789' };
      models[`${format}-${id}`] = {
        targets: [{ provider, model: `rec:${id}` }],
        price: { input: 1, cache_read: 0.1, output: 5 },
      };
    }
  }
  return { defaults: { routing: { max_extra_attempts: 0 } }, providers, models };
}

async function replay({ gateway }: Pair, replays: readonly Replay[]): Promise<Replayed[]> {
  const seen: Array<Omit<Replayed, 'record'> & { readonly requestId: string }> = [];
  const waiting = replays.values();
  const work = async () => {
    for (const one of waiting) {
      const messages = [{ role: 'user', content: 'When does the ferry leave?' }];
      const body = { model: `${one.format}-${one.id}`, max_tokens: 4096, messages, stream: one.stream };
      const headers = {
        authorization: `Bearer ${gateway.key}`,
        'content-type': 'application/json',
        'anthropic-version': '2023-06-01',
      };
      const response = await fetch(gateway.url + PATHS[one.format], {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      });
      const requestId = response.headers.get('x-request-id') ?? '';
      seen.push({ ...one, status: response.status, text: await response.text(), requestId });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  const records = new Map((await gateway.calls()).map((record) => [record.request_id, record]));
  return seen.map(({ requestId, ...rest }) => ({ ...rest, record: records.get(requestId) }));
}

describe.each(recordingSets('gemini-generate'))('Gemini through a running gateway, $name', (set) => {
  const recordings = new Map(set.recordings.map((recording) => [recording.id, recording]));
  let pair: Pair;
  let replayed: Replayed[] = [];
  beforeAll(async () => {
    pair = await startPair((fakeUrl) => configFor(fakeUrl, set));
    replayed = await replay(pair, replaysOf(set));
  }, 120_000);
  afterAll(() => pair.stop());

  const recordingOf = ({ id }: Replay) => {
    const recording = recordings.get(id);
    if (recording === undefined) throw new Error(`no recording ${id}`);
    return recording;
  };
  const answered = () =>
    replayed.flatMap((one) => {
      const recording = recordingOf(one);
      if (recording.response.status !== 200) return [];
      const expected = expectedOf(recording);
      return expected.finish === 'failed' ? [] : [{ one, expected }];
    });

  test('each was replayed', () => {
    expect(replayed.length).toBeGreaterThanOrEqual({ corpus: 60, recordings: 500 }[set.name]);
  });

  test('an answer is a 200 that ends as its format does', () => {
    for (const { one } of answered()) {
      const end = one.stream
        ? { chat: 'data: [DONE]\n\n', messages: 'data: {"type":"message_stop"}\n\n' }[one.format]
        : '}';
      expect([one.id, one.format, one.stream, one.status, one.text.endsWith(end)]).toEqual([
        one.id,
        one.format,
        one.stream,
        200,
        true,
      ]);
    }
  });

  test('the record has the usage that an independent reading finds', () => {
    for (const { one, expected } of answered()) {
      if (expected.usage === null) continue;
      const { input, cache_read, output, reasoning } = expected.usage;
      const cost = BigInt(input) * 1000n + BigInt(cache_read) * 100n + BigInt(output) * 5000n;
      const found = one.record;
      expect([one.id, found?.usage, found?.usage_source, found?.cost_nano_usd]).toEqual([
        one.id,
        expect.objectContaining({ input, cache_read, output, reasoning }),
        'upstream',
        String(cost),
      ]);
    }
  });

  test('an error or a failed answer is no success, and its record says so', () => {
    const served = new Set(answered().map(({ one }) => one));
    const others = replayed.filter((one) => !served.has(one));
    expect(others.length).toBeGreaterThan(0);
    for (const one of others) {
      expect([one.id, one.status >= 400, one.record === undefined]).toEqual([one.id, true, false]);
    }
  });
});
