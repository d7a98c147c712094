/** Tests the log lines of requests: one JSON object each, whatever their texts contain, in order with other lines. */
import { expect, test } from 'bun:test';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { runsOf } from '../../test/harness/exhaustive.ts';
import { sampleRecord } from '../store/testing/sample-record.ts';
import { temporaryFolders } from '../store/testing/temporary-folder.ts';
import { LineWriter } from './line-writer.ts';
import { createLog } from './log.ts';
import { type EndedRequest, RequestLines, RequestLog } from './request-lines.ts';

const newFolder = temporaryFolders();

/** The members of a line, built without the renderer. */
function membersOf({ record, model, payer }: EndedRequest): object {
  const { usage, attempts } = record;
  const last = attempts.at(-1);
  const members = {
    level: 30,
    time: new Date(Math.round(record.at_ms + record.duration_ms)).toISOString(),
    request_id: record.request_id,
    trace_id: record.trace_id,
    account: record.account,
    workspace: record.workspace,
    key_id: record.key_id,
    protocol: record.protocol,
    model: record.model,
    route: model,
    provider: record.provider,
    target: last === undefined ? null : (last.target ?? `${last.provider}/${last.model}`),
    attempts: attempts.length,
    stream: record.stream,
    status: record.status,
    error: record.error,
    finish_reason: record.finish_reason,
    input_tokens: usage.input + usage.cache_read + usage.cache_write_5m + usage.cache_write_1h,
    cached_tokens: usage.cache_read,
    output_tokens: usage.output,
    usage_source: record.usage_source,
    payer: payer === 'operator' ? payer : null,
    ttfb_ms: record.ttfb_ms,
    duration_ms: record.duration_ms,
    msg: 'request',
  };
  const shown = Object.entries(members)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => [
      name,
      typeof value === 'string' && value.length > 256 ? `${value.slice(0, 256)}…` : value,
    ]);
  // Null is a value: the model has no price.
  return { ...Object.fromEntries(shown), cost_nano_usd: record.cost_nano_usd };
}

/** Texts as clients and providers may send them: control characters, quotes, halves of surrogate pairs, long ones. */
const unit = fc.oneof(
  fc.constantFrom('"', '\\', '\n', '\r', '\u0000', '\u001b', '\u2028', '\ud800', '\udc00', '{', 'é', '😀'),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
);
const hostile = fc.oneof(fc.string({ unit, maxLength: 40 }), fc.string({ unit, minLength: 250, maxLength: 300 }));
const orNull = <Value>(values: fc.Arbitrary<Value>) => fc.option(values, { nil: null });
const attempt = fc.record({ provider: hostile, model: hostile, target: fc.option(hostile, { nil: undefined }) });
const count = fc.nat({ max: 10_000_000 });

const ended: fc.Arbitrary<EndedRequest> = fc
  .record({
    trace_id: fc.constantFrom(null, '0af7651916cd43dd8448eb211c80319c'),
    model: orNull(hostile),
    account: hostile,
    workspace: hostile,
    key_id: fc.constantFrom('key_1', 'key_2'),
    provider: orNull(hostile),
    error: orNull(hostile),
    finish_reason: orNull(hostile),
    attempts: fc.array(attempt, { maxLength: 3 }),
    usage: fc.record({
      input: count,
      cache_read: count,
      cache_write_5m: count,
      cache_write_1h: count,
      output: count,
      reasoning: count,
    }),
    cost_nano_usd: orNull(count.map(String)),
    at_ms: count.map((ms) => 1_790_000_000_000 + ms),
    duration_ms: count,
    ttfb_ms: orNull(count),
    stream: fc.boolean(),
  })
  .chain((changes) =>
    fc.record({
      record: fc.constant(
        sampleRecord('req_1', {
          ...changes,
          attempts: changes.attempts.map(({ target, ...rest }) => ({
            ...rest,
            ...(target === undefined ? {} : { target }),
            status: 200,
            error: null,
            duration_ms: 1,
          })),
        }),
      ),
      model: fc.oneof(fc.constant(changes.model), orNull(hostile)),
      payer: fc.constantFrom('account', 'operator'),
    }),
  );

/** The line break among them. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

/** One renderer for all requests: what it keeps of one must not show in another. */
const rendered = new RequestLines();

function render(request: EndedRequest): string {
  rendered.add(request);
  return rendered.take().toString();
}

test('each line is one JSON object with the members of its request, whatever the texts are', () => {
  fc.assert(
    fc.property(ended, (request) => {
      const line = render(request);
      expect(line.search(HIDDEN)).toBe(line.length - 1);
      expect(JSON.parse(line)).toEqual(membersOf(request));
    }),
    { numRuns: runsOf(2_000) },
  );
});

test('the longest lines fit, also where the buffer is all but full', () => {
  const text = '\u0000'.repeat(300);
  const texts = { account: text, workspace: text, key_id: text, model: text, provider: text, error: text };
  const last = { provider: text, model: text, status: 200, error: null, duration_ms: 1 };
  const numbers = { at_ms: 1_790_000_000_000, duration_ms: Number.MAX_SAFE_INTEGER / 1_000, ttfb_ms: 0.1 + 0.2 };
  const record = sampleRecord('req_1', {
    ...texts,
    ...numbers,
    finish_reason: text,
    attempts: [last],
    trace_id: '0'.repeat(32),
  });
  const longest: EndedRequest = { record, model: text, payer: 'operator' };
  const lines = new RequestLines();
  let count = 0;
  for (; !lines.isFull; count++) lines.add(longest);
  expect(count).toBeLessThan(6);
  const given = lines.take().toString().trimEnd().split('\n');
  expect(given.map((line) => JSON.parse(line))).toEqual(Array(count).fill(membersOf(longest)));
});

const PLAIN: EndedRequest = { record: sampleRecord('req_1'), model: 'm', payer: 'account' };

test('members that do not apply are left out, and a model without a price costs null', () => {
  const nothing = { attempts: [], provider: null, error: null, ttfb_ms: null, cost_nano_usd: null };
  const parsed = JSON.parse(render({ ...PLAIN, record: sampleRecord('req_1', nothing), model: null }));
  for (const name of ['trace_id', 'route', 'provider', 'target', 'error', 'ttfb_ms', 'payer']) {
    expect(parsed).not.toHaveProperty(name);
  }
  expect(parsed.cost_nano_usd).toBeNull();
});

/** A log on a file, and what it wrote once it is closed. */
function openFile() {
  const path = join(newFolder(), 'log');
  const file = openSync(path, 'w');
  const lines = new LineWriter(file);
  const close = async () => {
    await lines.close();
    closeSync(file);
    return readFileSync(path, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
  };
  return { path, lines, close };
}

test('lines of requests are written within 100 ms, without another line', async () => {
  const { path, lines, close } = openFile();
  new RequestLog(lines).add(PLAIN);
  expect(readFileSync(path, 'utf8')).toBe('');
  await Bun.sleep(100);
  while (readFileSync(path, 'utf8') === '') await Bun.sleep(5);
  expect(await close()).toMatchObject([{ request_id: 'req_1' }]);
});

test('no other line overtakes the lines of requests that ended before it', async () => {
  const { lines, close } = openFile();
  const requests = new RequestLog(lines);
  const log = createLog(lines);
  for (let at = 0; at < 300; at++) requests.add({ ...PLAIN, record: sampleRecord(`req_${at}`) });
  log.warn('between');
  requests.add({ ...PLAIN, record: sampleRecord('req_last') });
  const seen = (await close()).map(({ msg, request_id }) => request_id ?? msg);
  expect(seen).toEqual([...Array.from({ length: 300 }, (_, at) => `req_${at}`), 'between', 'req_last']);
});

test('no text of a line forges another one, or moves the cursor of a terminal', () => {
  const written: string[] = [];
  const text = 'a\u009b2J\u007f\u0085\u2028\u202e\u{e0001}\u001b[2J\r\n{"level":50}';
  createLog({ write: (line) => void written.push(line) }).warn({ cause: text }, text);
  const [line = ''] = written;
  expect(line.search(HIDDEN)).toBe(line.length - 1);
  expect(JSON.parse(line)).toMatchObject({ level: 40, cause: text, msg: text });
  const { model } = JSON.parse(render({ ...PLAIN, record: sampleRecord('req_1', { model: text }) }));
  expect(model).toBe(text);
});
