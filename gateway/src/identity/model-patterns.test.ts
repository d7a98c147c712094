/** Tests model patterns against an oracle that tries every match. */
import { describe, expect, test } from 'bun:test';
import { array, assert, constantFrom, property, string } from 'fast-check';
import { startCpuClock } from '../../test/harness/cpu-clock.ts';
import { compileModelPatterns } from './principal.ts';

/** Row by row over pattern × name; slow and simple. */
function oracle(pattern: string, name: string): boolean {
  let row = [true, ...new Array<boolean>(name.length).fill(false)];
  for (const character of pattern) {
    const next = [character === '*' && row[0] === true];
    for (let at = 1; at <= name.length; at++) {
      next.push(
        character === '*'
          ? row[at] === true || next[at - 1] === true
          : row[at - 1] === true && name[at - 1] === character,
      );
    }
    row = next;
  }
  return row[name.length] === true;
}

const short = (letters: string) => string({ unit: constantFrom(...letters), maxLength: 9 });

describe('compileModelPatterns', () => {
  test('agrees with the oracle on any pattern and name', () => {
    assert(
      property(
        short('ab*'),
        short('ab'),
        (pattern, name) => compileModelPatterns([pattern])(name) === oracle(pattern, name),
      ),
      { numRuns: 5_000 },
    );
  });

  test('a list allows all names that any of its patterns allows', () => {
    assert(
      property(array(short('ab*'), { maxLength: 4 }), short('ab'), (patterns, name) => {
        return compileModelPatterns(patterns)(name) === patterns.some((pattern) => oracle(pattern, name));
      }),
    );
  });

  test('no list allows everything, an empty list nothing', () => {
    expect(compileModelPatterns(null)('anything')).toBe(true);
    expect(compileModelPatterns([])('anything')).toBe(false);
    expect(compileModelPatterns(['a', '**'])('anything')).toBe(true);
  });

  test('characters that mean something in regular expressions mean themselves', () => {
    const matches = compileModelPatterns(['gpt-4.1', '(a+)+$', '[x]*']);
    expect(['gpt-4.1', '(a+)+$', '[x]yz'].map(matches)).toEqual([true, true, true]);
    expect(['gpt-4x1', 'aaaa', 'xyz', 'GPT-4.1', '__proto__'].map(matches)).toEqual([
      false,
      false,
      false,
      false,
      false,
    ]);
  });

  test('a pattern designed to be slow takes no longer', () => {
    const matches = compileModelPatterns([`${'a*'.repeat(128)}b`]);
    const name = 'a'.repeat(256);
    const cpuMs = startCpuClock();
    for (let round = 0; round < 1_000; round++) expect(matches(name)).toBe(false);
    expect(cpuMs()).toBeLessThan(5_000);
  });
});
