/** Tests that an answer converted to events folds back to itself. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { foldGeneration, type Generation, unfoldGeneration } from './generation.ts';
import type { Part } from './part.ts';
import { ZERO_USAGE } from './usage.ts';

const part: fc.Arbitrary<Part> = fc.oneof(
  fc.record({
    kind: fc.constant('text' as const),
    text: fc.string(),
    citations: fc.constant([]),
    cache_mark: fc.constant(null),
  }),
  fc.record({ kind: fc.constant('refusal' as const), text: fc.string() }),
  fc.record({
    kind: fc.constant('reasoning' as const),
    text: fc.string(),
    signature: fc.option(fc.string(), { nil: null }),
    redacted: fc.boolean(),
    issuer: fc.constantFrom('messages', null),
  }),
  fc.record({
    kind: fc.constant('tool_call' as const),
    id: fc.string(),
    name: fc.string(),
    tool: fc.constantFrom('function' as const, 'custom' as const),
    arguments: fc.string(),
    cache_mark: fc.constant(null),
  }),
  fc.constant({
    kind: 'opaque' as const,
    type: 'server_tool_use',
    native: { origin: 'messages', json: '{}' },
    words: null,
  }),
);

test('fold(unfold(answer)) is the answer', () => {
  fc.assert(
    fc.property(fc.array(part), fc.boolean(), (parts, complete) => {
      const answer: Generation = {
        id: 'a',
        model: null,
        parts,
        finish_reason: 'stop',
        stop_sequence: null,
        reported: 'stop',
        explanation: null,
        usage: ZERO_USAGE,
        usageFlags: [],
        complete,
      };
      expect(foldGeneration(unfoldGeneration(answer))).toEqual(answer);
    }),
  );
});

test('a delta of a part that has not begun is a fault', () => {
  expect(() => foldGeneration([{ kind: 'text_delta', part: 1, text: 'x' }])).toThrow('part 1, which has not begun');
});
