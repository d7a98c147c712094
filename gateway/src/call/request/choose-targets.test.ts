/** Tests which data tags a request requires. */
import { describe, expect, test } from 'bun:test';
import { readRequiredTags } from './choose-targets.ts';

describe('required tags', () => {
  const read = (value: string, policy: readonly string[] = []) =>
    readRequiredTags(new Headers({ 'x-tollgate-require': value }), policy);

  test('those of the policy and of the request, each once', () => {
    const policy = ['zdr'];
    expect(readRequiredTags(new Headers(), policy)).toBe(policy);
    expect(read('eu, ZDR ,eu,', policy)).toEqual(['zdr', 'eu']);
    expect(read('', policy)).toEqual(policy);
  });

  test.each(['eu zdr', '"eu"', 'ü', 'a'.repeat(33), Array.from({ length: 21 }, (_, at) => `t${at}`).join(',')])(
    'refuses %s',
    (value) => {
      expect(() => read(value)).toThrow('x-tollgate-require: found');
    },
  );
});
