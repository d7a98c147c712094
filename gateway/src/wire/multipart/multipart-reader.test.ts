/** Tests that a form is read the same under any split of its bytes, and that every ambiguous form is refused. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { type FormPart, MultipartError, MultipartReader } from './multipart-reader.ts';

const BOUNDARY = 'b0undary';

function read(body: Buffer, cuts: readonly number[] = [], boundary = BOUNDARY): FormPart[] {
  const parts: FormPart[] = [];
  const reader = new MultipartReader(boundary, (part) => parts.push(part));
  const ends = [...new Set([...cuts.map((cut) => cut % (body.length + 1)), body.length])].sort((a, b) => a - b);
  let from = 0;
  for (const end of ends) {
    reader.push(body.subarray(from, end));
    from = end;
  }
  reader.end();
  return parts;
}

interface Given {
  readonly name: string;
  readonly file: boolean;
  readonly value: Buffer;
}

function form(parts: readonly Given[]): Buffer {
  const pieces = parts.flatMap(({ name, file, value }) => [
    Buffer.from(
      `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"${file ? '; filename="a \\"b\\".wav"\r\nContent-Type: audio/wav' : ''}\r\n\r\n`,
    ),
    value,
    Buffer.from('\r\n'),
  ]);
  return Buffer.concat([...pieces, Buffer.from(`--${BOUNDARY}--\r\n`)]);
}

const raw = (text: string) => Buffer.from(text, 'latin1');
const field = (name: string, value: string) => ({ name, file: false, value: Buffer.from(value) });
const one = (head: string, value = 'x') => raw(`--${BOUNDARY}\r\n${head}\r\n\r\n${value}\r\n--${BOUNDARY}--`);

function problemOf(body: Buffer, boundary?: string): string {
  try {
    read(body, [], boundary);
  } catch (error) {
    if (error instanceof MultipartError) return error.message;
    throw error;
  }
  return 'accepted';
}

describe('a form', () => {
  test('tells names, texts, and where each value is', () => {
    const body = form([field('model', 'whisper-1'), { name: 'file', file: true, value: raw('RIFF\r\n--b0') }]);
    const [model, file] = read(body);
    expect(model).toMatchObject({ name: 'model', isFile: false, text: 'whisper-1' });
    expect(body.toString('latin1', model?.start, model?.end)).toBe('whisper-1');
    expect(file).toMatchObject({ name: 'file', text: null, fileName: 'a "b".wav', contentType: 'audio/wav' });
    expect(body.toString('latin1', file?.start, file?.end)).toBe('RIFF\r\n--b0');
  });

  test('is the same under every single cut and byte by byte', () => {
    const body = form([
      field('prompt', 'naïve\r\n-- b0undary'),
      { name: 'file', file: true, value: raw('\r\n--b0undar') },
    ]);
    const whole = read(body);
    for (let cut = 0; cut <= body.length; cut++) expect(read(body, [cut])).toEqual(whole);
    expect(read(body, [...body.keys()])).toEqual(whole);
  });

  test('is the same under any split, with values made of parts of the boundary', () => {
    const piece = fc.constantFrom(
      '\r',
      '\n',
      '-',
      '--',
      '--b0',
      'undary',
      ' --b0undary',
      '\r\nb0undary',
      '\0',
      'ÿ',
      'x'.repeat(20_000),
    );
    const value = fc.array(piece, { maxLength: 8 }).map((pieces) => raw(pieces.join('')));
    const part = fc.record({ name: fc.constantFrom('file', 'image[]', 'mask'), file: fc.constant(true), value });
    const cuts = fc.array(fc.nat(), { maxLength: 12 });
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 4 }), cuts, (parts, at) => {
        fc.pre(!parts.some((one) => /(?:^|[\r\n])--b0undary/.test(one.value.toString('latin1'))));
        const body = form(parts);
        const found = read(body, at);
        expect(found.map(({ start, end }) => body.toString('latin1', start, end))).toEqual(
          parts.map((one) => one.value.toString('latin1')),
        );
      }),
      { numRuns: 200 },
    );
  });

  test('any bytes at all are read or refused, the same under any split', () => {
    const token = fc.constantFrom(
      `--${BOUNDARY}`,
      '\r\n',
      '--',
      '\r\n\r\n',
      'Content-Disposition: form-data; name="a"',
      '\n',
      'x',
    );
    fc.assert(
      fc.property(fc.array(token, { maxLength: 14 }), fc.array(fc.nat(), { maxLength: 6 }), (tokens, cuts) => {
        const body = raw(`--${BOUNDARY}\r\n${tokens.join('')}`);
        const outcome = (at: readonly number[]) => {
          try {
            return read(body, at);
          } catch (error) {
            if (!(error instanceof MultipartError)) throw error;
            return 'refused';
          }
        };
        expect(outcome(cuts)).toEqual(outcome([]));
      }),
      { numRuns: 300 },
    );
  });

  test.each([
    ['the boundary after CR LF without dashes (vector 6)', 'x\r\nb0undary\r\ny'],
    ['the boundary within a line', 'x--b0undary--\r\n'],
    ['dashes at the end', 'x\r\n--'],
    ['nothing', ''],
  ])('a file may contain %s', (_, value) => {
    const [file] = read(form([{ name: 'file', file: true, value: raw(value) }]));
    expect((file?.end ?? 0) - (file?.start ?? 0)).toBe(value.length);
  });

  test.each(['\r', '\r\n', '\r\n\r\n'])('may have %j after its end, in one piece or byte by byte', (after) => {
    const body = Buffer.concat([one('Content-Disposition: form-data; name="a"'), raw(after)]);
    const cuts = Array.from(body, (_, index) => index);
    expect([read(body), read(body, cuts)].map((parts) => parts.length)).toEqual([1, 1]);
  });

  test.each(['', '\r\n'])('may have %j before its first boundary', (before) => {
    expect(read(Buffer.concat([raw(before), form([field('a', 'b')])]))).toHaveLength(1);
  });

  test.each(['ISO-8859-1', 'us-ascii', 'utf8'])('may have ASCII in %s, as HTTP clients for Java name it', (charset) => {
    const head = `Content-Disposition: form-data; name="a"\r\nContent-Type: text/plain; charset=${charset}`;
    expect(read(one(head, 'whisper-1')).map(({ text }) => text)).toEqual(['whisper-1']);
  });
});

describe('a form is refused', () => {
  const named = 'Content-Disposition: form-data; name="a"';
  test.each([
    ['without its closing boundary', raw(`--${BOUNDARY}\r\n${named}\r\n\r\nx`), 'before its closing boundary'],
    ['cut in a head', raw(`--${BOUNDARY}\r\n${named}`), 'before its closing boundary'],
    ['empty', raw(''), 'before its closing boundary'],
    ['with another boundary', raw('--another one\r\n'), 'does not begin'],
    ['with text before', raw(`hello\r\n--${BOUNDARY}--`), 'does not begin'],
    ['with bytes after its end', Buffer.concat([one(named), raw('\r\nmore')]), 'after its closing'],
    ['with many lines after its end', Buffer.concat([one(named), raw('\r\n\r\n\r\n')]), 'after its closing'],
    ['with a line that begins like a boundary', one(named, `x\r\n--${BOUNDARY}er`), 'begins like the boundary'],
    ['with a boundary after a lone LF', one(named, `x\n--${BOUNDARY}\r\ny`), 'begins like the boundary'],
    ['with a boundary after a lone CR', one(named, `x\r--${BOUNDARY}\r\ny`), 'begins like the boundary'],
    ['with a boundary as its value', one(named, `--${BOUNDARY}--`), 'begins like the boundary'],
    ['with a padded boundary', one(named, `x\r\n--${BOUNDARY} \r\ny`), 'begins like the boundary'],
    ['with a part without a name', one('Content-Disposition: form-data'), 'no content-disposition'],
    ['with a part without headers', raw(`--${BOUNDARY}\r\n\r\n\r\nx\r\n--${BOUNDARY}--`), 'malformed'],
    ['with two names', one(`${named}; name="model"`), 'no content-disposition'],
    ['with an extended name', one(`${named}; name*=utf-8''model`), 'no content-disposition'],
    ['with an odd name', one('Content-Disposition: form-data; name="mo del"'), 'which no form has'],
    ['with a header twice', one(`${named}\r\n${named}`), 'twice'],
    ['with a folded header', one(`${named};\r\n filename="x"`), 'malformed'],
    ['with a lone LF in a header', one(`${named}; x="\nfoo"`), 'malformed'],
    ['with encoded text', one(`${named}\r\nContent-Transfer-Encoding: base64`), 'content-transfer-encoding'],
    ['with text in UTF-16', one(`${named}\r\nContent-Type: text/plain; charset=utf-16`), 'charset'],
    ['with text that is not UTF-8', one(named, '\xff'), 'not UTF-8'],
    [
      'with other than ASCII in Latin-1',
      one(`${named}\r\nContent-Type: text/plain; charset=ISO-8859-1`, 'é'),
      'charset',
    ],
  ])('%s', (_, body, words) => {
    expect(problemOf(body)).toContain(words);
  });

  test('beyond its limits, and not at them', () => {
    const parts = (count: number) => form(Array.from({ length: count }, () => field('a', 'b')));
    expect([problemOf(parts(64)), problemOf(parts(65))]).toEqual(['accepted', 'it has more than 64 parts']);
    const text = (bytes: number) => form([field('a', 'x'.repeat(bytes))]);
    expect([problemOf(text(65_536)), problemOf(text(65_537))]).toEqual([
      'accepted',
      'the part a is longer than 65536 bytes',
    ]);
    const head = (bytes: number) => one(`${named}\r\nX-Fill: ${'y'.repeat(bytes - named.length - 10)}`);
    expect([problemOf(head(8_192)), problemOf(head(8_193))]).toEqual([
      'accepted',
      'the headers of a part are longer than 8192 bytes',
    ]);
    expect(problemOf(raw(`--${BOUNDARY}\r\n${'y'.repeat(20_000)}`))).toContain('longer than 8192');
  });
});
