/** Tests of record-template.ts: a match means the same JSON but for the holes; what is not certain is not learnt. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { dataLatin1, learnTemplate, matchTemplate } from './record-template.ts';
import { recordsOf } from './testing/outline-of.ts';

const latin1 = (text: string) => Buffer.from(text).toString('latin1');
const chunk = (content: string, pad?: string) =>
  JSON.stringify({ id: 'x', d: { content }, ...(pad === undefined ? {} : { pad }) });

describe('a template', () => {
  test('matches records that differ in the hole only, and says how many bytes are in it', () => {
    const template = learnTemplate(latin1(chunk('hi')), [['content', 'hi']]);
    if (template === null) throw new Error('nothing was learnt');
    expect(matchTemplate(template, latin1(chunk('héllo')))).toBe(6);
    expect(matchTemplate(template, latin1(chunk('')))).toBe(0);
    expect(matchTemplate(template, latin1(chunk('a"b')))).toBe(-1);
    expect(matchTemplate(template, latin1(chunk('a\\')))).toBe(-1);
    expect(matchTemplate(template, `${latin1(chunk('hi'))} `)).toBe(-1);
    expect(matchTemplate(template, latin1(chunk('hi').replace('x', 'y')))).toBe(-1);
  });

  test('has a hole per key, whichever comes first', () => {
    const template = learnTemplate(latin1(chunk('hi', 'zz')), [
      ['pad', 'zz'],
      ['content', 'hi'],
    ]);
    if (template === null) throw new Error('nothing was learnt');
    expect(matchTemplate(template, latin1(chunk('abc', 'z')))).toBe(4);
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
  ] as const)('is not learnt from %s', (_, text, holes) => {
    expect(learnTemplate(text, holes)).toBeNull();
  });

  test('that matches means JSON that is equal but for the hole', () => {
    const json = fc.dictionary(fc.constantFrom('a', 'content', 'b', 'é'), fc.jsonValue({ maxDepth: 2 }));
    const piece = fc.string({ unit: fc.constantFrom('a', 'é', '{', '}', ',', ':', '"', '\\', ' ') });
    const value = (around: object, content: string) => ({ ...around, delta: { content } });
    fc.assert(
      fc.property(json, json, piece, piece, fc.boolean(), (one, two, learnt, held, same) => {
        const template = learnTemplate(latin1(JSON.stringify(value(one, learnt))), [['content', learnt]]);
        if (template === null) return;
        const other = value(same ? one : two, held);
        const text = JSON.stringify(other);
        if (matchTemplate(template, latin1(text)) === -1) return;
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value(one, held))));
      }),
      { numRuns: 2_000 },
    );
  });

  test('matches every plain text in its hole', () => {
    const template = learnTemplate(latin1(chunk('hi')), [['content', 'hi']]);
    if (template === null) throw new Error('nothing was learnt');
    const plain = fc.string({ unit: 'grapheme' }).filter((text) => JSON.stringify(text) === `"${text}"`);
    fc.assert(
      fc.property(plain, (text) => {
        expect(matchTemplate(template, latin1(chunk(text)))).toBe(Buffer.byteLength(text));
      }),
    );
  });
});

test('the data of a record is one character per byte', () => {
  const [record] = recordsOf('event: e\ndata: é\n\n');
  expect(record === undefined ? null : dataLatin1(record)).toBe('Ã©');
});
