/**
 * Tests Gemini streams without `alt=sse`, a JSON array piece by piece: its elements are the events of the stream, however
 * those are split or cut, and record, charge and stored answer are the same. Specification of other endpoints, 4.3.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { JsonObject } from '../../../src/protocols/json.ts';
import { ArrayElements } from '../../../src/server/gemini-array.ts';
import { recordingSets } from '../../fake-upstream/recordings.ts';
import { eventually } from '../../harness/eventually.ts';
import { type Pair, startPair } from '../../harness/start-pair.ts';
import { isStream } from '../gemini/answer-oracle.ts';
import { relayed } from '../relay-stream.ts';
import { recordedText } from '../wire-text.ts';
import { type Answer, ask, chunksIn, HELLO, recordOf, streamed } from './rig.ts';

/** Upstream's format by the beginning of a model's name. */
const SIDES = { g: 'google', c: 'lab', m: 'lab-messages', r: 'lab-responses' } as const;
const SCENES = ['ok', 'tool', 'cut', 'held', 'large', 'rejecting', 'quiet', 'endless'];
const BYTES_MAX = 2_000;

let pair: Pair;
beforeAll(async () => {
  pair = await startPair((fakeUrl) => {
    const base = { base_url: `${fakeUrl}/v1`, api_key: 'lab-credential' };
    const kinds = { c: 'openai-compatible', m: 'anthropic', r: 'openai' } as const;
    const sides = Object.keys(SIDES) as (keyof typeof SIDES)[];
    const scenes = sides.flatMap((side) => SCENES.map((scene) => [side, `${side}-${scene}`, scene] as const));
    return {
      defaults: { routing: { max_extra_attempts: 0 } },
      limits: { keep_alive: '100ms', commit_after: '200ms' },
      // What is learned of failing providers concerns no others.
      providers: Object.fromEntries(
        scenes.map(([side, name]) => [
          name,
          side === 'g' ? { ...base, kind: 'gemini', base_url: fakeUrl } : { ...base, kind: kinds[side] },
        ]),
      ),
      models: Object.fromEntries(
        scenes.map(([, name, model]) => [
          name,
          { targets: [{ provider: name, model }], price: { input: 1, output: 5 } },
        ]),
      ),
    };
  });
  const { fake } = pair;
  fake.script('cut', { answer: 'long:200', cut: { at: 6_000, how: 'fin' } });
  fake.script('held', { answer: 'ok', holdAfterEvent: 1 });
  fake.script('large', { answer: 'long:2000', chunking: 'all' });
  fake.script('quiet', { answer: 'ok', delayBeforeFirstByteMs: 600 });
  const error = { code: 400, message: 'not so', status: 'INVALID_ARGUMENT' };
  fake.script('rejecting', { status: 400, json: { error } });
}, 60_000);
afterAll(() => pair.stop());

const asArray = (model: string, asking = {}) => ask(pair, `${model}:streamGenerateContent`, HELLO, asking);
const elementsOf = ({ text }: Pick<Answer, 'text'>): JsonObject[] => JSON.parse(text);
/** Without what differs from one answer to the next. */
const anonymous = (chunks: readonly JsonObject[]) =>
  JSON.parse(JSON.stringify(chunks).replaceAll(/"(?:responseId|id)":"[^"]*"/g, '"id":""'));

describe.each(Object.keys(SIDES))('upstream %s', (side) => {
  test.each(['ok', 'tool'])('gives the elements of the event stream: %s', async (scene) => {
    const [array, events] = [await asArray(`${side}-${scene}`), await streamed(pair, `${side}-${scene}`, HELLO)];
    expect([array.status, array.headers.get('content-type')]).toEqual([200, 'application/json; charset=UTF-8']);
    expect(anonymous(elementsOf(array))).toEqual(anonymous(chunksIn(events.text)));
    const [one, other] = [await recordOf(pair, array), await recordOf(pair, events)];
    expect([one?.usage, one?.cost_nano_usd, one?.stream, one?.finish_reason]).toEqual([
      other?.usage,
      other?.cost_nano_usd,
      true,
      other?.finish_reason,
    ]);
    expect(Number(one?.cost_nano_usd)).toBeGreaterThan(0);
  });

  // Vector 19.
  test('that breaks off ends with an error as the last element', async () => {
    const elements = elementsOf(await asArray(`${side}-cut`));
    expect(elements.length).toBeGreaterThan(1);
    expect(elements.at(-1)?.error).toMatchObject({ code: 500, status: 'INTERNAL' });
    expect(elements.slice(0, -1).some(({ error }) => error !== undefined)).toBe(false);
  });

  test('that refuses is an array of its error, with the status', async () => {
    const answer = await asArray(`${side}-rejecting`);
    expect([answer.status, elementsOf(answer)]).toMatchObject([
      400,
      [{ error: { code: 400, status: 'INVALID_ARGUMENT' } }],
    ]);
  });
});

test('upstream is asked for events', async () => {
  await asArray('g-ok');
  expect(pair.fake.served('ok').at(-1)?.requestLine).toContain('ok:streamGenerateContent?alt=sse ');
});

test('an element arrives as soon as it is known, and white space keeps the connection alive', async () => {
  const reply = await fetch(`${pair.gateway.url}/v1beta/models/g-held:streamGenerateContent?alt=json`, {
    method: 'POST',
    headers: { 'x-goog-api-key': pair.gateway.key, 'content-type': 'application/json' },
    body: JSON.stringify(HELLO),
  });
  let text = '';
  let isReleased = false;
  for await (const bytes of reply.body ?? []) {
    text += Buffer.from(bytes).toString();
    // The first element and white space after it, before upstream goes on.
    if (isReleased || !/\}\s+$/.test(text)) continue;
    expect(JSON.parse(`${text}]`)).toHaveLength(1);
    isReleased = true;
    pair.fake.release();
  }
  expect([isReleased, elementsOf({ text }).length > 1]).toEqual([true, true]);
});

test('silence before the first element is filled with white space', async () => {
  const { status, text } = await asArray('g-quiet');
  expect([status, text.startsWith('\n\n'), elementsOf({ text }).length > 0]).toEqual([200, true, true]);
});

test('upstream ends when the client leaves', async () => {
  const abort = new AbortController();
  const reply = await fetch(`${pair.gateway.url}/v1beta/models/g-endless:streamGenerateContent`, {
    method: 'POST',
    headers: { 'x-goog-api-key': pair.gateway.key, 'content-type': 'application/json' },
    body: JSON.stringify(HELLO),
    signal: abort.signal,
  });
  await reply.body?.getReader().read();
  abort.abort();
  await eventually('the end of upstream', () => pair.fake.served('endless').at(-1)?.leftAtMs);
  const record = await eventually('the record', () => recordOf(pair, reply));
  expect(record.error).toBe('client_left');
});

test.each(['ok', 'large'])('a stored answer is an array or events, as it is asked for: %s', async (scene) => {
  const headers = { 'x-goog-api-key': pair.gateway.key, 'idempotency-key': `array-${scene}` };
  const first = await asArray(`g-${scene}`, { headers });
  const again = await asArray(`g-${scene}`, { headers });
  const events = await ask(pair, `g-${scene}:streamGenerateContent?alt=sse`, HELLO, { headers });
  expect([first, again, events].map((answer) => answer.headers.get('x-tollgate-replayed'))).toEqual([
    null,
    'true',
    'true',
  ]);
  expect(elementsOf(again)).toEqual(elementsOf(first));
  expect(chunksIn(events.text)).toEqual(elementsOf(first));
});

test('another form is refused by name', async () => {
  const { status, text } = await ask(pair, 'g-ok:streamGenerateContent?alt=proto', HELLO);
  expect([status, JSON.parse(text).error.details[0].fieldViolations[0].field]).toEqual([400, 'alt']);
});

describe('elements', () => {
  const arrayOf = (parts: readonly (Uint8Array | string)[]): string => {
    const elements = new ArrayElements();
    const texts = parts.map((part) => elements.push(Buffer.from(part)).toString());
    return texts.join('') + elements.end().toString();
  };

  test('of no event are an empty array', () => {
    expect(JSON.parse(arrayOf([]))).toEqual([]);
    expect(JSON.parse(arrayOf(['\r\n', ': x\n\n']))).toEqual([]);
  });

  test.each(['\n', '\r\n', '\r'])('are the same for every split of the bytes, lines ended by %j', (end) => {
    const lines = [
      'data: {"a":"ä","b":[1]}',
      '',
      ': alive',
      '',
      '',
      'data: {"c":',
      'data: 2}',
      '',
      'data:{"d":"🍋"}',
      '',
    ];
    const bytes = Buffer.from(`${lines.join(end)}${end}`);
    for (let at = 0; at <= bytes.length; at++)
      expect(JSON.parse(arrayOf([bytes.subarray(0, at), bytes.subarray(at)]))).toEqual([
        { a: 'ä', b: [1] },
        { c: 2 },
        { d: '🍋' },
      ]);
    expect(JSON.parse(arrayOf([...bytes].map((byte) => Uint8Array.of(byte))))).toHaveLength(3);
  });

  describe.each(recordingSets('gemini-generate'))('of the $name', ({ recordings }) => {
    const short = recordings
      .filter((one) => isStream(one) && one.response.status === 200)
      .filter((one) => recordedText(one, false).length < BYTES_MAX)
      .slice(0, 3);

    test('are legal JSON wherever upstream cuts, with an error last unless the answer is whole', async () => {
      expect(short.length).toBeGreaterThan(0);
      for (const recording of short) {
        const bytes = Buffer.from(recordedText(recording, false));
        for (let at = 1; at < bytes.length; at++) {
          const cut = await relayed('gemini', [bytes.subarray(0, at)]);
          if (!cut.began) continue;
          const elements: JsonObject[] = JSON.parse(arrayOf([cut.text]));
          const isWhole = cut.outcome?.failure === null;
          expect([recording.id, at, elements.at(-1)?.error === undefined]).toEqual([recording.id, at, isWhole]);
        }
      }
    });
  });
});
