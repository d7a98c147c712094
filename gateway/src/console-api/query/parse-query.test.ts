/** Tests the query language: what each form means, what each error names, and that values survive their rendering. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { runsOf } from '../../../test/harness/exhaustive.ts';
import { QUERY_FIELDS, type QueryField } from '../../lib/query/call-query.ts';
import { parseQuery, QUERY_CHARS_MAX, QueryError, renderValue, splitQuery } from './parse-query.ts';

const is = (text: string) => ({ text, isPrefix: false });
const begins = (text: string) => ({ text, isPrefix: true });
const term = (field: QueryField, members: object) => ({ field, isNot: false, texts: [], ranges: [], ...members });
const range = (from: number | bigint | null, to: number | bigint | null, isOpen = false) => ({ from, to, isOpen });

describe('a query', () => {
  test.each([
    ['model:gpt-5', [term('model', { texts: [is('gpt-5')] })]],
    ['model:claude*', [term('model', { texts: [begins('claude')] })]],
    ['-model:a,b*', [term('model', { isNot: true, texts: [is('a'), begins('b')] })]],
    ['key:"two words","a\\"b",c', [term('key', { texts: [is('two words'), is('a"b'), is('c')] })]],
    ['key:"prod w"*', [term('key', { texts: [begins('prod w')] })]],
    ['user:none', [term('user', { texts: [null] })]],
    ['user:"none"', [term('user', { texts: [is('none')] })]],
    ['session:a:b', [term('session', { texts: [is('a:b')] })]],
    ['status:429', [term('status', { ranges: [range(429, 429)] })]],
    ['status:5xx,429', [term('status', { ranges: [range(500, 599), range(429, 429)] })]],
    ['status>=400', [term('status', { ranges: [range(400, null)] })]],
    ['cost>0.05', [term('cost', { ranges: [range(50_000_000n, null, true)] })]],
    ['cost<=$0.000000001', [term('cost', { ranges: [range(null, 1n)] })]],
    ['cost:none', [term('cost', { texts: [null] })]],
    ['cost:0.01..0.5', [term('cost', { ranges: [range(10_000_000n, 500_000_000n)] })]],
    ['tokens>12k', [term('tokens', { ranges: [range(12_000, null, true)] })]],
    ['tokens:1.5M..', [term('tokens', { ranges: [range(1_500_000, null)] })]],
    ['duration>10s', [term('duration', { ranges: [range(10_000, null, true)] })]],
    ['ttft<250ms', [term('ttft', { ranges: [range(null, 250, true)] })]],
    ['duration:1.5m..1h', [term('duration', { ranges: [range(90_000, 3_600_000)] })]],
    ['tps<20', [term('tps', { ranges: [range(null, 20, true)] })]],
    ['tag.team:web,none', [{ ...term('tag', { texts: [is('web'), null] }), tag: 'team' }]],
    ['-tag.cost-center:4*', [{ ...term('tag', { isNot: true, texts: [begins('4')] }), tag: 'cost-center' }]],
    ['Stream:yes', [term('stream', { texts: [is('yes')] })]],
    ['reason:budget_spent', [term('reason', { texts: [is('budget_spent')] })]],
    ['req_0193ab', [term('id', { texts: [begins('req_0193ab')] })]],
    ['0193ab', [term('id', { texts: [begins('req_0193ab')] })]],
    ['  model:a   status:200 ', [term('model', { texts: [is('a')] }), term('status', { ranges: [range(200, 200)] })]],
    ['', []],
  ])('%s', (text, terms) => {
    expect(parseQuery(text as string) as unknown).toEqual({ terms, words: [] });
  });

  test.each([
    ['timeout', [{ text: 'timeout', isNot: false }]],
    [
      '"rate limit" -"try again"',
      [
        { text: 'rate limit', isNot: false },
        { text: 'try again', isNot: true },
      ],
    ],
    ['-timeout model:a', [{ text: 'timeout', isNot: true }]],
    ['time*', [{ text: 'time', isNot: false }]],
    ['-', [{ text: '-', isNot: false }]],
    ['"model:a"', [{ text: 'model:a', isNot: false }]],
  ])('%s has words', (text, words) => {
    expect(parseQuery(text).words).toEqual(words);
  });

  test.each([
    ['modle:x', 'found the field "modle", expected model?', 0, 7],
    ['nothing:x', 'found the field "nothing", expected one of key, model', 0, 9],
    ['a:1 tokens:many', 'found the field "a"', 0, 3],
    ['status:200 tokens:many', 'tokens: found "many", expected a whole number', 18, 4],
    ['duration>10', 'duration: found "10", expected a duration with its unit', 9, 2],
    ['cost>0.0000000001', 'cost: found "0.0000000001", expected US dollars', 5, 12],
    ['tokens:0.5', 'tokens: found "0.5", expected a whole number', 7, 3],
    ['status:6xx', 'status: found "6xx", expected a status', 7, 3],
    ['tokens:9..3', 'tokens: found "9..3", expected the smaller number first', 7, 4],
    ['tokens:..', 'tokens: found "..", expected a whole number', 7, 2],
    ['model>x', 'model: found >, expected model:value', 0, 7],
    ['model:', 'model: found no value, expected a value, such as model:prod', 0, 6],
    ['model:a,,b', 'model: found an empty value', 8, 0],
    ['key:"open', 'key: found "\\"open", expected a quote at its end', 4, 5],
    ['stream:maybe', 'stream: found "maybe", expected one of yes, no', 7, 5],
    ['reason:budget_spend', 'reason: found "budget_spend", expected budget_spent?', 7, 12],
    ['"open', 'text: found "\\"open", expected a quote at its end', 0, 5],
    ['-"open', 'text: found "\\"open", expected a quote at its end', 1, 5],
    ['"  "', 'expected a word or field:value', 0, 4],
    ['https://example.com', 'or quotes around a text to search', 0, 19],
  ])('%s is refused', (text, message, at, length) => {
    const fault = faultOf(text);
    expect(fault.message).toContain(message);
    expect(fault.problem).toMatchObject({ at, length });
  });

  test('is bounded in characters, terms and values', () => {
    expect(faultOf('a'.repeat(QUERY_CHARS_MAX + 1)).message).toContain('expected at most 2000');
    expect(parseQuery('model:a '.repeat(40)).terms).toHaveLength(40);
    expect(faultOf('model:a '.repeat(41)).message).toContain('more than 40 terms');
    expect(faultOf(`model:${'a,'.repeat(100)}a`).message).toContain('found 101 values');
  });

  test('of any text is parsed or refused with a place inside the text', () => {
    const alphabet = fc.constantFrom(...' :,-<>="\\*.$kxmode:lstatu5costkey'.split(''), 'model:', 'cost>', '..');
    fc.assert(
      fc.property(fc.array(alphabet, { maxLength: 40 }), (pieces) => {
        const text = pieces.join('');
        try {
          parseQuery(text);
        } catch (fault) {
          if (!(fault instanceof QueryError)) throw fault;
          const { at, length } = fault.problem;
          expect(at >= 0 && length >= 0 && at + length <= text.length).toBe(true);
        }
        expect(splitQuery(text).every((part) => text.startsWith(part.text, part.at))).toBe(true);
      }),
      { numRuns: runsOf(500) },
    );
  });

  test('reads every value that was rendered for it', () => {
    const textFields = Object.entries(QUERY_FIELDS).filter(([name, { kind }]) => kind === 'text' && name !== 'tag');
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 60, unit: 'binary' }), fc.nat(), (value, nth) => {
        const [field = 'model'] = textFields[nth % textFields.length] ?? [];
        expect(parseQuery(`${field}:${renderValue(value)} status:200`).terms).toEqual([
          term(field as QueryField, { texts: [is(value)] }),
          term('status', { ranges: [range(200, 200)] }),
        ] as never);
      }),
      { numRuns: runsOf(300) },
    );
  });
});

function faultOf(text: string): QueryError {
  try {
    parseQuery(text);
  } catch (fault) {
    if (fault instanceof QueryError) return fault;
  }
  throw new Error(`${JSON.stringify(text)} was accepted`);
}
