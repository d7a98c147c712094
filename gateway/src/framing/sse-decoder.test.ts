/** Tests that an event stream yields the same records however its bytes are cut, and that no byte is lost. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { runsOf } from '../../test/harness/exhaustive.ts';
import { dataText, type FramingOutput, rawBytes, type StreamRecord } from './framing.ts';
import { SSE, startSseDecoder } from './sse-decoder.ts';

const encoder = new TextEncoder();
const bytesOf = (text: string) => encoder.encode(text);

const STREAM = `\uFEFF: hello\n\nevent: message_start\ndata: {"type":"message_start","t":"é😀"}\n\nevent: ping\ndata: {}\n\ndata:no space\ndata:  two spaces\ndata\n\n:\n\nevent: only\nid: 7\nretry: 10\n\n\n\ndata: [DONE]\n\n`;

interface Decoded {
  readonly events: unknown[];
  readonly raw: string;
  readonly spans: Uint8Array[];
}

function decode(chunks: readonly Uint8Array[]): Decoded {
  const decoder = startSseDecoder();
  const outputs: FramingOutput[] = [];
  for (const chunk of chunks) outputs.push(...decoder.push(chunk));
  outputs.push(...decoder.finish());
  const records = outputs.map(asRecord);
  const spans = records.map(rawBytes);
  return {
    // How a run of blank lines is divided into records depends on the chunks.
    events: records
      .filter(({ kind }) => kind !== 'blank')
      .map((record) => [record.kind, record.event, dataText(record)]),
    raw: Buffer.concat(spans).toString('latin1'),
    spans,
  };
}

function asRecord(output: FramingOutput | undefined): StreamRecord {
  if (output === undefined || output.kind === 'problem') throw new Error(`expected a record, found ${output?.message}`);
  return output;
}

function cut(bytes: Uint8Array, at: readonly number[]): Uint8Array[] {
  const places = [0, ...at.map((place) => place % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length];
  return places.slice(1).map((to, index) => bytes.slice(places[index], to));
}

const EXPECTED = [
  ['comment', '', ''],
  ['event', 'message_start', '{"type":"message_start","t":"é😀"}'],
  ['event', 'ping', '{}'],
  ['event', '', 'no space\n two spaces\n'],
  ['comment', '', ''],
  ['no-data', 'only', ''],
  ['event', '', '[DONE]'],
];

describe.each([
  ['LF', STREAM],
  ['CRLF', STREAM.replaceAll('\n', '\r\n')],
  ['CR', STREAM.replaceAll('\n', '\r')],
  ['mixed', STREAM.replaceAll('\n\n', '\r\n\n').replaceAll('data', '\rdata').replaceAll('\n\r', '\n')],
])('a stream with %s line ends', (_, text) => {
  const bytes = bytesOf(text);

  test('gives its records in one piece', () => {
    expect(decode([bytes]).events).toEqual(EXPECTED);
  });

  test('gives the same records and all its bytes when cut in two anywhere', () => {
    for (let at = 0; at <= bytes.length; at++) {
      const decoded = decode([bytes.slice(0, at), bytes.slice(at)]);
      expect(decoded.events).toEqual(EXPECTED);
      expect(decoded.raw).toBe(Buffer.from(bytes).toString('latin1'));
    }
  });

  test('gives the same records byte by byte', () => {
    const decoded = decode(Array.from(bytes, (byte) => Uint8Array.of(byte)));
    expect(decoded.events).toEqual(EXPECTED);
    expect(decoded.raw).toBe(Buffer.from(bytes).toString('latin1'));
  });

  test('gives the same records when cut in many places', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length), { maxLength: 30, size: 'max' }), (at) => {
        expect(decode(cut(bytes, at)).events).toEqual(EXPECTED);
      }),
      { numRuns: 200 },
    );
  });
});

/** Splits at line ends, then at empty lines: slow, simple, and for complete streams only. */
function oracle(text: string): unknown[] {
  const events: unknown[] = [];
  let lines: string[] = [];
  const flush = () => {
    const fields = lines.filter((line) => !line.startsWith(':')).map((line) => line.split(/:(.*)/s));
    const fieldValue = (field: readonly string[]) => (field[1] ?? '').replace(/^ /, '');
    const found = fields.filter(([name]) => name === 'data').map(fieldValue);
    const event =
      fields
        .filter(([name]) => name === 'event')
        .map(fieldValue)
        .at(-1) ?? '';
    const kind = found.length > 0 ? 'event' : fields.length > 0 ? 'no-data' : 'comment';
    if (lines.length > 0) events.push([kind, event, found.join('\n')]);
    lines = [];
  };
  for (const line of text.split(/\r\n|\r|\n/)) {
    if (line === '') flush();
    else lines.push(line);
  }
  flush();
  return events;
}

test('any stream decodes as the standard says, for any division, and loses no byte', () => {
  const token = fc.constantFrom(
    'data',
    'event',
    'id',
    ':',
    ': ',
    ' ',
    '\n',
    '\n',
    '\r',
    '\r\n',
    '\n\n',
    'x',
    'data: y\n',
    'é',
    'dat',
    'event: z\n',
  );
  fc.assert(
    fc.property(
      fc.array(token, { maxLength: 40, size: 'max' }),
      fc.array(fc.nat(200), { maxLength: 8 }),
      (tokens, at) => {
        const text = tokens.join('');
        const decoded = decode(cut(bytesOf(text), at));
        expect(decoded.events).toEqual(oracle(text));
        expect(decoded.raw).toBe(Buffer.from(text).toString('latin1'));
      },
    ),
    { numRuns: runsOf(3_000) },
  );
});

describe('promptness', () => {
  test.each([
    ['LF LF', ['data: x\n', '\n']],
    ['CR LF CR, before its LF', ['data: x\r\n', '\r']],
    ['CR CR', ['data: x\r', '\r']],
  ])('a record that ends in %s is returned at that byte', (_, [first, second]) => {
    const decoder = startSseDecoder();
    expect(decoder.push(bytesOf(first as string))).toEqual([]);
    expect(decoder.push(bytesOf(second as string)).map((output) => output.kind)).toEqual(['event']);
  });

  test('the LF that comes after a CR belongs to the next span, and ends no record', () => {
    const decoder = startSseDecoder();
    decoder.push(bytesOf('data: x\r\n\r'));
    expect(decoder.push(bytesOf('\n'))).toEqual([]);
    const record = asRecord(decoder.push(bytesOf('data: y\n\n'))[0]);
    expect([record.kind, dataText(record), Buffer.from(rawBytes(record)).toString()]).toEqual([
      'event',
      'y',
      '\ndata: y\n\n',
    ]);
  });
});

describe('memory', () => {
  test('records within one chunk are spans of that chunk', () => {
    const chunk = bytesOf('data: a\n\ndata: b\n\n');
    const decoder = startSseDecoder();
    decoder.push(bytesOf('data: held'));
    const outputs = [...decoder.push(bytesOf('\n\n')), ...decoder.push(chunk)].slice(1).map(asRecord);
    expect(outputs.map(({ bytes, dataBytes }) => [bytes === chunk, dataBytes === chunk])).toEqual([
      [true, true],
      [true, true],
    ]);
  });

  test('held bytes are returned in memory of their own', () => {
    const decoder = startSseDecoder();
    decoder.push(bytesOf('data: one'));
    const first = asRecord(decoder.push(bytesOf('\n\n'))[0]);
    decoder.push(bytesOf('data: two'));
    decoder.push(bytesOf('\n\n'));
    expect(dataText(first)).toBe('one');
  });

  test.each([
    ['at the limit', 0, ['event']],
    ['one byte over it', 1, ['problem']],
  ])('a record %s, in one chunk, in two, byte by byte, with LF and CRLF', (_, over, kinds) => {
    for (const end of ['\n\n', '\r\r', '\r\n\r\n']) {
      const counted = end === '\r\n\r\n' ? 3 : 2;
      const bytes = bytesOf(`data: ${'x'.repeat(100 - 6 - counted + over)}${end}`);
      for (const size of [1, 7, 50, 99, 100, 101, 1_000]) {
        const decoder = startSseDecoder(100);
        const outputs: FramingOutput[] = [];
        for (let at = 0; at < bytes.length && outputs.length === 0; at += size)
          outputs.push(...decoder.push(bytes.slice(at, at + size)));
        expect(outputs.map(({ kind }) => kind)).toEqual(kinds as FramingOutput['kind'][]);
      }
    }
  });

  test('the LF of the line end before does not count', () => {
    for (const chunks of [
      ['\r', '\ndata: 89012345678\n\n'],
      ['\r\ndata: 89012345678\n\n'],
      ['\r', '\n', 'data: 89012345678\n\n'],
    ]) {
      const decoder = startSseDecoder(19);
      const outputs = chunks.flatMap((chunk) => decoder.push(bytesOf(chunk)));
      expect(outputs.map(({ kind }) => kind)).toEqual(['blank', 'event']);
    }
  });

  test('records before one that is too long are returned, and the next push throws', () => {
    const decoder = startSseDecoder(20);
    const outputs = decoder.push(bytesOf(`data: a\n\ndata: ${'b'.repeat(30)}`));
    expect(outputs.map(({ kind }) => kind)).toEqual(['event', 'problem']);
    expect(() => decoder.push(bytesOf('x'))).toThrow('has ended');
  });

  test('an endless record in small chunks is refused at 8 MiB', () => {
    const decoder = startSseDecoder();
    const chunk = bytesOf('data: 0123456789\n'.repeat(4_096));
    let pushedBytes = 0;
    let outputs: FramingOutput[] = [];
    for (; outputs.length === 0; pushedBytes += chunk.length) outputs = decoder.push(chunk);
    expect(outputs.map(({ kind }) => kind)).toEqual(['problem']);
    expect(pushedBytes).toBeLessThanOrEqual(8 * 1024 * 1024 + chunk.length);
  });
});

describe('finish', () => {
  test('gives the tail that no blank line ended', () => {
    const decoder = startSseDecoder();
    decoder.push(bytesOf('data: a\n\nevent: e\ndata: b'));
    const tail = asRecord(decoder.finish()[0]);
    expect([tail.kind, tail.event, dataText(tail), Buffer.from(rawBytes(tail)).toString()]).toEqual([
      'event',
      'e',
      'b',
      'event: e\ndata: b',
    ]);
  });

  test('gives nothing after a complete record', () => {
    const decoder = startSseDecoder();
    decoder.push(bytesOf('data: a\n\n'));
    expect(decoder.finish()).toEqual([]);
  });
});

test('vector 26: comments, pings, retry: and id: lines are no data', () => {
  const { events } = decode([bytesOf(': hello\n\nretry: 10\nid: 7\n\nevent: ping\ndata: {}\n\ndata: {"a":1}\n\n')]);
  expect(events).toEqual([
    ['comment', '', ''],
    ['no-data', '', ''],
    ['event', 'ping', '{}'],
    ['event', '', '{"a":1}'],
  ]);
});

test('vector 27: one record in many reads, many records in one read, one record of 5 MB', () => {
  const many = 'data: {"a":1}\n\n'.repeat(500);
  expect(decode([bytesOf(many)]).events).toHaveLength(500);
  const large = `data: "${'x'.repeat(5 * 1024 * 1024)}"\n\n`;
  const reads = large.match(/[\s\S]{1,65536}/g) ?? [];
  const { events, raw } = decode(reads.map(bytesOf));
  expect(events).toEqual([['event', '', large.slice('data: '.length, -2)]]);
  expect(raw).toBe(large);
});

test.each([
  ['text/event-stream', true],
  [' Text/Event-Stream; charset=utf-8', true],
  ['application/json', false],
  ['', false],
])('%p is an event stream: %p', (type, wanted) => {
  expect(SSE.isStream(type)).toBe(wanted);
});

test.each([
  ['data: {}', true],
  ['event: x', true],
  [': comment', true],
  ['d', true],
  ['{"a":1}', false],
  [' {}', false],
  ['<html>', false],
  ['', false],
])('a body that begins with %p begins like events: %p', (text, wanted) => {
  expect(SSE.beginsStream(Buffer.from(text))).toBe(wanted);
});
