/**
 * Tests record-template.ts: a skimmed record is the same JSON except for its variable parts; uncertain records are not
 * learned.
 */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { runsOf } from '../../../test/harness/exhaustive.ts';
import { recordsOf } from '../testing/outline-of.ts';
import { learnTemplate, RecordSkimmer, type RecordTemplate, rawLatin1 } from './record-template.ts';

const latin1 = (text: string) => Buffer.from(text).toString('latin1');
const framed = (json: string) => `data: ${json}\n\n`;
const chunk = (content: string, pad?: string) =>
  framed(JSON.stringify({ id: 'x', d: { content }, ...(pad === undefined ? {} : { pad }) }));

function learn(raw: string, holes: ReadonlyArray<readonly [string, string]>): RecordTemplate {
  const template = learnTemplate(latin1(raw), holes);
  if (template === null) throw new Error('nothing was learnt');
  return template;
}

const skimmed = (template: RecordTemplate, text: string, start = 0) => {
  const end = template.skim(Buffer.from(text), start);
  return [end, template.heldBytes];
};

describe('a template of numbered records', () => {
  const numbered = (n: unknown, delta: string) => framed(`{"n":${n},"delta":"${delta}","end":1}`);
  const learnNumbered = (raw: string) => learnTemplate(latin1(raw), [['delta', 'a']], 'n');

  test('skims them while their numbers go up by one', () => {
    const template = learnNumbered(numbered(8, 'a'));
    const run = numbered(9, 'bc') + numbered(10, '') + numbered(11, 'd');
    expect(template?.skim(Buffer.from(run + numbered(13, 'e')), 0)).toBe(run.length);
    expect([template?.heldRecords, template?.heldBytes]).toEqual([3, 3]);
    // Nothing counts until it is said to.
    expect(template?.skim(Buffer.from(run), 0)).toBe(run.length);
    template?.advance();
    expect(template?.skim(Buffer.from(run), 0)).toBe(0);
    expect(template?.skim(Buffer.from(numbered(12, 'e')), 0)).toBe(numbered(12, 'e').length);
  });

  test.each(['9.0', '90', '09', '8', '"9"', '-9', ' 9'])('stops at the number %s', (n) => {
    expect(learnNumbered(numbered(8, 'a'))?.skim(Buffer.from(numbered(n, 'b')), 0)).toBe(0);
  });

  test.each(['1.5', '"1"', '1e3', 'null'])('is not learned from the number %s', (n) => {
    expect(learnNumbered(numbered(n, 'a'))).toBeNull();
  });

  test('is learned without a number where records have none, and not where they have two', () => {
    const bare = framed('{"delta":"a"}');
    expect(learnNumbered(bare)?.skim(Buffer.from(bare + bare), 0)).toBe(2 * bare.length);
    expect(learnNumbered(framed('{"n":1,"delta":"a","in":{"n":2}}'))).toBeNull();
  });

  test('of a skimmer counts its records, and a preview does not', () => {
    const skimmer = new RecordSkimmer();
    const [first] = recordsOf(numbered(0, 'a'));
    if (first === undefined) throw new Error('no record');
    skimmer.learn(first, [['delta', 'a']], false, 'n');
    const run = Buffer.from(numbered(1, 'b') + numbered(2, 'c'));
    expect(skimmer.preview(run, 0)).toEqual({ end: run.length, outputBytes: 2 });
    expect([skimmer.skim(run, 0), skimmer.heldRecords, skimmer.heldBytes]).toEqual([run.length, 2, 2]);
    expect(skimmer.skim(Buffer.from(numbered(3, 'd')), 0)).toBe(numbered(3, 'd').length);
  });
});

describe('a template', () => {
  test('skims records that differ only in the hole, and reports its bytes', () => {
    const template = learn(chunk('hi'), [['content', 'hi']]);
    const same = chunk('héllo') + chunk('') + chunk('x');
    expect(skimmed(template, same)).toEqual([Buffer.byteLength(same), 7]);
    expect(skimmed(template, chunk('x') + chunk('y'), chunk('x').length)).toEqual([2 * chunk('x').length, 1]);
  });

  test.each([
    ['a quote', chunk('a"b')],
    ['a backslash', chunk('a\\')],
    ['a line feed as it is', chunk('ab').replace('ab', 'a\nb')],
    ['a carriage return as it is', chunk('ab').replace('ab', 'a\rb')],
    ['another member', chunk('hi').replace('"x"', '"y"')],
    ['a space before its end', chunk('hi').replace('\n\n', ' \n\n')],
    ['no end', chunk('hi').slice(0, -1)],
    ['another event', `event: e\n${chunk('hi')}`],
  ])('stops before a record with %s', (_, text) => {
    const template = learn(chunk('hi'), [['content', 'hi']]);
    expect(skimmed(template, text)).toEqual([0, 0]);
    expect(skimmed(template, chunk('ok') + text + chunk('ok'))).toEqual([chunk('ok').length, 2]);
  });

  test('has a hole per key, whichever comes first, and counts the first key', () => {
    const template = learn(chunk('hi', 'zz'), [
      ['pad', 'zz'],
      ['content', 'hi'],
    ]);
    expect(skimmed(template, chunk('abc', 'z'))[1]).toBe(1);
    const other = learn(chunk('hi', 'zz'), [
      ['content', 'hi'],
      ['pad', 'zz'],
    ]);
    expect(skimmed(other, chunk('abc', 'z'))[1]).toBe(3);
  });

  test('skims thousands of records across its windows', () => {
    const template = learn(chunk('hi'), [['content', 'hi']]);
    const many = Array.from({ length: 3_000 }, (_, index) => chunk('w'.repeat(index % 40))).join('');
    expect(skimmed(template, many)[0]).toBe(many.length);
  });

  test.each([
    ['a value with a quote', '{"content":"a\\"b"}', [['content', 'a"b']]],
    ['a value with a backslash', '{"content":"a\\\\"}', [['content', 'a\\']]],
    ['a value written with escapes', '{"content":"\\u0061"}', [['content', 'a']]],
    ['a key that is there twice', '{"content":"a","x":{"content":"b"}}', [['content', 'a']]],
    ['a key that is there twice, the other first', '{"x":{"content":"b"},"content":"a"}', [['content', 'a']]],
    ['a key written with a space', '{"content": "a"}', [['content', 'a']]],
    [
      'a second key that is missing',
      '{"content":"a"}',
      [
        ['content', 'a'],
        ['pad', 'z'],
      ],
    ],
  ] as const)('is not learnt from %s', (_, json, holes) => {
    expect(learnTemplate(framed(json), holes)).toBeNull();
  });

  test('is not learned from a record whose end is not two line feeds', () => {
    expect(learnTemplate('data: {"content":"a"}\r\n\r\n', [['content', 'a']])).toBeNull();
  });

  test('a template that skims matches JSON that is equal except for the hole', () => {
    const json = fc.dictionary(fc.constantFrom('a', 'content', 'b', 'é'), fc.jsonValue({ maxDepth: 2 }));
    const piece = fc.string({ unit: fc.constantFrom('a', 'é', '{', '}', ',', ':', '"', '\\', ' ') });
    const value = (around: object, content: string) => ({ ...around, delta: { content } });
    fc.assert(
      fc.property(json, json, piece, piece, fc.boolean(), (one, two, learnt, held, same) => {
        const raw = framed(JSON.stringify(value(one, learnt)));
        const template = learnTemplate(latin1(raw), [['content', learnt]]);
        if (template === null) return;
        const text = JSON.stringify(value(same ? one : two, held));
        if (template.skim(Buffer.from(framed(text)), 0) === 0) return;
        expect(template.heldBytes).toBe(Buffer.byteLength(held));
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value(one, held))));
      }),
      { numRuns: runsOf(2_000) },
    );
  });

  test('skims every plain text in its hole', () => {
    const template = learn(chunk('hi'), [['content', 'hi']]);
    const plain = fc.string({ unit: 'grapheme' }).filter((text) => JSON.stringify(text) === `"${text}"`);
    fc.assert(
      fc.property(plain, (text) => {
        expect(skimmed(template, chunk(text))).toEqual([Buffer.byteLength(chunk(text)), Buffer.byteLength(text)]);
      }),
    );
  });
});

test('the bytes of a record are one character each', () => {
  const [record] = recordsOf('event: e\ndata: é\n\n');
  expect(record === undefined ? null : rawLatin1(record)).toBe('event: e\ndata: Ã©\n\n');
});

test('a preview tells where a skim ends and what it counts, and counts nothing itself', () => {
  const skimmer = new RecordSkimmer();
  const bytes = Buffer.from(chunk('héllo') + chunk('') + chunk('a\\'));
  expect(skimmer.preview(bytes, 0)).toEqual({ end: 0, outputBytes: 0 });
  for (const record of recordsOf(chunk('hi'))) if (record.kind === 'event') skimmer.learn(record, [['content', 'hi']]);
  const end = bytes.length - Buffer.byteLength(chunk('a\\'));
  expect([skimmer.preview(bytes, 0), skimmer.heldBytes]).toEqual([{ end, outputBytes: 6 }, 0]);
  expect([skimmer.skim(bytes, 0), skimmer.heldBytes]).toEqual([end, 6]);
});

test('skims after any previews count as without them', () => {
  const record = (n: number, delta: string) => framed(`{"n":${n},"delta":"${delta}"}`);
  const [first] = recordsOf(record(0, 'a'));
  if (first === undefined) throw new Error('no record');
  const texts = fc.array(fc.constantFrom('', 'b', 'héllo', 'a\\\\'), { minLength: 1, maxLength: 12 });
  const looks = fc.array(fc.record({ from: fc.nat(12), to: fc.nat(12), isSkim: fc.boolean() }), { maxLength: 12 });
  fc.assert(
    fc.property(texts, looks, (deltas, steps) => {
      const records = deltas.map((delta, index) => record(index + 1, delta));
      const bytes = Buffer.from(records.join(''));
      const at = (index: number) => Buffer.byteLength(records.slice(0, index).join(''));
      const [with_, without] = [new RecordSkimmer(), new RecordSkimmer()];
      for (const skimmer of [with_, without]) skimmer.learn(first, [['delta', 'a']], true, 'n');
      for (const { from, to, isSkim } of steps) {
        const part = bytes.subarray(at(from), at(Math.max(from, to)));
        if (!isSkim) with_.preview(part, 0);
        else {
          expect(with_.skim(part, 0)).toBe(without.skim(part, 0));
          const counts = ({ heldBytes, heldRecords, heldReasoningBytes }: RecordSkimmer) => [
            ...[heldBytes, heldRecords, heldReasoningBytes],
          ];
          expect(counts(with_)).toEqual(counts(without));
        }
      }
    }),
    { numRuns: runsOf(2_000) },
  );
});
