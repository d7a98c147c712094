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

/** All but those of endpoints that only read or delete stored content, or count tokens. */
const all = (loadRecordings({ api: 'openai-responses' }) ?? []).filter(
  ({ request }) =>
    request === null ||
    (request.method === 'POST' && /\/responses(\/compact)?$/.test(request.path.split('?')[0] ?? '')),
);
/** The provider refused its account's credential or quota: by a status, or in a stream that had just begun. */
const isRefused = ({ response: { status, body } }: Recording) =>
  status === 401 ||
  (status === 400 && JSON.stringify(body).includes('Incorrect API key')) ||
  /"code": ?"insufficient_quota"/.test(String(body));
/** A recorder left out its end. */
const isCut = ({ stream, response: { body } }: Recording) =>
  stream && !/"type": ?"response\.(completed|incomplete|failed)"/.test(String(body));
const recordings = all.filter((one) => one.response.status === 200 && !isRefused(one) && !isCut(one));
const errors = all.filter((one) => !recordings.includes(one) && !isCut(one));

const AT_ONCE = 12;
const PRICE = { input: 1, output: 2 };

function configFor(fakeUrl: string): object {
  const models = Object.fromEntries(
    all.map((recording, index) => {
      const { id } = recording;
      const model = `rec:${id}`;
      // Every second one has another name here.
      const name = index % 2 === 0 ? model : `public-${index}`;
      // A credential that was refused rests.
      const provider = isRefused(recording) ? `refused-${index}` : 'lab';
      return [name, { targets: [{ provider, model }], price: PRICE }];
    }),
  );
  const provider = { kind: 'openai', base_url: `${fakeUrl}/v1`, api_key: 'lab-credential' };
  const refused = Object.fromEntries(
    all.flatMap((one, index) => (isRefused(one) ? [[`refused-${index}`, provider]] : [])),
  );
  return { defaults: { routing: { max_extra_attempts: 0 } }, providers: { lab: provider, ...refused }, models };
}

interface Replayed {
  readonly recording: Recording;
  /** The body that upstream must get. */
  readonly wanted: string;
  readonly status: number;
  readonly body: Buffer;
  readonly requestId: string;
}

async function replay({ gateway, fake }: Pair, recording: Recording, index: number): Promise<Replayed> {
  const model = `rec:${recording.id}`;
  if (recording.stream)
    fake.script(model, { answer: model, chunking: index % 3 === 0 ? 'all' : { sizes: [7, 1, 64, 3] } });
  // Of some only the answer was recorded.
  const recorded = asObject(recording.request?.body) ?? { input: 'a', stream: recording.stream };
  const layout = index % 3 === 1 ? '\t' : undefined;
  const written = (name: string) =>
    JSON.stringify({ ...recorded, model: name }, null, layout).replaceAll(/[\u0080-\uffff]/g, (unit) =>
      index % 5 === 0 ? `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}` : unit,
    );
  const path = recording.request?.path.endsWith('/compact') === true ? '/responses/compact' : '/responses';
  const reply = await fetch(`${gateway.url}/v1${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', 'openai-beta': 'new=1' },
    body: written(index % 2 === 0 ? model : `public-${index}`),
  });
  const requestId = reply.headers.get('x-request-id') ?? '';
  return {
    recording,
    wanted: written(model),
    status: reply.status,
    body: Buffer.from(await reply.arrayBuffer()),
    requestId,
  };
}

describe.skipIf(recordings.length === 0)('recorded Responses (needs the recordings)', () => {
  let pair: Pair;
  const replays: Replayed[] = [];
  let records: ReadonlyMap<string, CallLine> = new Map();

  beforeAll(async () => {
    pair = await startPair(configFor);
    const waiting = all.entries();
    const work = async () => {
      for (const [index, recording] of waiting) replays.push(await replay(pair, recording, index));
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    records = new Map((await pair.gateway.calls()).map((record) => [record.request_id, record]));
  }, 120_000);
  afterAll(() => pair.stop());

  const answered = () => replays.filter(({ status, recording }) => status === 200 && recordings.includes(recording));
  const failed = () => replays.filter(({ recording }) => errors.includes(recording));

  test('are answered, except those that name stored state', () => {
    expect([all.length, recordings.length]).toEqual([568, 548]);
    const refused = replays.filter(({ status, recording }) => status !== 200 && !errors.includes(recording));
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

  test('refusals of the request pass as they were recorded; those of our credential become a fault of ours', () => {
    for (const { recording, status, body } of failed()) {
      const text = body.toString();
      if (isRefused(recording)) {
        expect([recording.id, status, /quota|incorrect api key/i.test(text)]).toEqual([
          recording.id,
          recording.stream ? 200 : 500,
          false,
        ]);
        if (recording.stream)
          expect(text).toMatch(/event: response\.failed\ndata: [^\n]*server_is_overloaded[^\n]*\n\n$/);
        continue;
      }
      const wanted = JSON.parse(Buffer.from(recordingBytes(recording)).toString());
      // A model that the provider does not have is an error of the configuration (contract, 10.21).
      if (wanted.error.code === 'model_not_found') {
        const isStream = asObject(recording.request?.body)?.stream === true;
        expect([recording.id, status]).toEqual([recording.id, isStream ? 200 : 500]);
        continue;
      }
      const { error } = JSON.parse(text);
      expect([recording.id, status, error.type, error.param]).toEqual([
        recording.id,
        recording.response.status,
        wanted.error.type,
        wanted.error.param,
      ]);
      // The gateway checks some members itself, in its own words.
      if (error.code !== 'invalid_request_error') expect(error).toEqual(wanted.error);
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
    for (const { recording, wanted } of answered()) {
      const call = served.get(`rec:${recording.id}`);
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
      // It goes on in the background, and has a record of its end.
      if (response?.status === 'queued') continue;
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
