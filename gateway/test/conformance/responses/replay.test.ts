/**
 * Replays the recorded Responses interactions through a running gateway to an upstream of the format: the client gets
 * upstream's bytes and upstream the client's, however the stream is split, and the record has the recorded usage.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { asObject } from '../../../src/protocols/json.ts';
import { type Recording, recordingBytes } from '../../fake-upstream/recording.ts';
import { loadRecordings } from '../../fake-upstream/recordings.ts';
import type { CallLine } from '../../harness/start-gateway.ts';
import { type Pair, startPair } from '../../harness/start-pair.ts';

const recordings = (loadRecordings({ api: 'openai-responses' }) ?? []).filter(
  ({ request, response }) => request?.method === 'POST' && /\/responses$/.test(request.path) && response.status === 200,
);

const AT_ONCE = 12;
const PRICE = { input: 1, output: 2 };

function configFor(fakeUrl: string): object {
  const models = Object.fromEntries(
    recordings.map(({ id }, index) => {
      const model = `rec:${id}`;
      // Every second one has another name here.
      const name = index % 2 === 0 ? model : `public-${index}`;
      return [name, { targets: [{ provider: 'lab', model }], price: PRICE }];
    }),
  );
  const provider = { kind: 'openai', base_url: `${fakeUrl}/v1`, api_key: 'lab-credential' };
  return { defaults: { routing: { max_extra_attempts: 0 } }, providers: { lab: provider }, models };
}

interface Replayed {
  readonly recording: Recording;
  readonly sent: string;
  readonly status: number;
  readonly body: Buffer;
  readonly requestId: string;
}

async function replay({ gateway, fake }: Pair, recording: Recording, index: number): Promise<Replayed> {
  const model = `rec:${recording.id}`;
  if (recording.stream)
    fake.script(model, { answer: model, chunking: index % 3 === 0 ? 'all' : { sizes: [7, 1, 64, 3] } });
  const layout = index % 3 === 1 ? '\t' : undefined;
  const named = { ...asObject(recording.request?.body), model: index % 2 === 0 ? model : `public-${index}` };
  const sent = JSON.stringify(named, null, layout).replaceAll(/[\u0080-\uffff]/g, (unit) =>
    index % 5 === 0 ? `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}` : unit,
  );
  const reply = await fetch(`${gateway.url}/v1/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', 'openai-beta': 'new=1' },
    body: sent,
  });
  const requestId = reply.headers.get('x-request-id') ?? '';
  return { recording, sent, status: reply.status, body: Buffer.from(await reply.arrayBuffer()), requestId };
}

describe.skipIf(recordings.length === 0)('recorded Responses (needs the recordings)', () => {
  let pair: Pair;
  const replays: Replayed[] = [];
  let records: ReadonlyMap<string, CallLine> = new Map();

  beforeAll(async () => {
    pair = await startPair(configFor);
    const waiting = recordings.entries();
    const work = async () => {
      for (const [index, recording] of waiting) replays.push(await replay(pair, recording, index));
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    records = new Map((await pair.gateway.calls()).map((record) => [record.request_id, record]));
  }, 120_000);
  afterAll(() => pair.stop());

  const answered = () => replays.filter(({ status }) => status === 200);

  test('are answered, except those that name stored state', () => {
    expect(replays.length).toBeGreaterThan(400);
    const refused = replays.filter(({ status }) => status !== 200);
    expect(refused.length).toBeLessThan(40);
    for (const { status, body } of refused) {
      const { error } = JSON.parse(body.toString());
      expect([status === 400 || status === 404, typeof error.message, typeof error.param]).toEqual([
        true,
        'string',
        'string',
      ]);
      expect(error.message).toMatch(/stored|background/);
    }
  });

  test('the client gets the recorded bytes, up to the terminal event', () => {
    for (const { recording, body } of answered()) {
      const whole = Buffer.from(recordingBytes(recording)).toString();
      // OpenRouter sends more after the end.
      const wanted = whole.replace(/data: \[DONE\]\s*$/, '');
      expect([recording.id, body.toString() === wanted]).toEqual([recording.id, true]);
    }
  });

  test('upstream gets the client’s bytes with only the model changed', () => {
    const served = new Map(pair.fake.served().map((call) => [call.model, call]));
    for (const { recording, sent } of answered()) {
      const call = served.get(`rec:${recording.id}`);
      const wanted = sent.replace(/("model": ?)"[^"]*"/, `$1"rec:${recording.id}"`);
      expect([recording.id, Buffer.from(call?.requestBody ?? []).toString() === wanted]).toEqual([recording.id, true]);
      const headers = new Map(call?.headers);
      expect([headers.get('authorization'), headers.get('openai-beta')]).toEqual(['Bearer lab-credential', 'new=1']);
    }
  });

  test('the record has the recorded usage, status word and model', () => {
    for (const { recording, body, requestId } of answered()) {
      const text = body.toString();
      const last = recording.stream
        ? text
            .split('\n')
            .findLast((line) => /^data:.*"response\./.test(line))
            ?.slice(5)
        : text;
      const parsed = asObject(JSON.parse(last ?? '{}'));
      const response = recording.stream ? asObject(parsed?.response) : parsed;
      const usage = asObject(response?.usage);
      const record = records.get(requestId);
      expect([recording.id, record?.protocol, record?.stream]).toEqual([recording.id, 'responses', recording.stream]);
      if (usage === null || usage.output_tokens === 0) continue;
      const { input = 0, cache_read = 0, cache_write_5m = 0, output } = record?.usage ?? {};
      expect([recording.id, input + cache_read + cache_write_5m, output, record?.usage_source]).toEqual([
        recording.id,
        Number(usage.input_tokens),
        Number(usage.output_tokens),
        'upstream',
      ]);
    }
  });
});
