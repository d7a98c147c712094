/** Generates random responses for property tests: parts of every kind with interleaved events. */
import fc from 'fast-check';
import type { GenerationEvent, PartOpening } from '../../../generation/event.ts';
import type { Part } from '../../../generation/part.ts';
import { textPart } from '../../../generation/part.ts';
import type { Usage } from '../../../generation/usage.ts';

/** A random response as events, and the parts that a messages client must receive. */
export interface AnyAnswer {
  readonly events: readonly GenerationEvent[];
  readonly expected: readonly Part[];
  readonly usage: Usage;
}

interface Draft {
  readonly opening: (part: number) => PartOpening;
  readonly pieces: readonly string[];
  readonly signature: string | null;
  readonly expected: (part: number) => Part | null;
}

const text = fc.string({ unit: 'binary', maxLength: 12 });
const pieces = fc.array(
  text.filter((one) => one !== ''),
  { maxLength: 4 },
);

const speech: fc.Arbitrary<Draft> = fc
  .tuple(fc.constantFrom('text' as const, 'refusal' as const), pieces)
  .map(([kind, content]) => ({
    opening: () => ({ kind }),
    pieces: content,
    signature: null,
    expected: () => (content.length === 0 ? null : textPart(content.join(''))),
  }));

const reasoning: fc.Arbitrary<Draft> = fc
  .tuple(fc.constantFrom('messages', null), pieces, fc.option(fc.stringMatching(/^[A-Za-z0-9+/]{1,9}$/)))
  .map(([issuer, content, signature]) => {
    const own = issuer === null ? null : signature;
    const thought = content.join('');
    const shown = own ?? (signature === null ? `gw1.${thought.length}` : 'gw2.');
    return {
      opening: () => ({ kind: 'reasoning', redacted: false, issuer }) as const,
      pieces: content,
      signature,
      expected: () =>
        thought === '' && own === null
          ? null
          : {
              kind: 'reasoning',
              text: thought,
              signature: shown,
              redacted: false,
              issuer: 'messages',
            },
    };
  });

const call: fc.Arbitrary<Draft> = fc
  .tuple(
    fc.option(fc.dictionary(text, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 })),
    fc.array(fc.nat(60), { maxLength: 5 }),
  )
  .map(([input, cuts]) => {
    const json = input === null ? '' : JSON.stringify(input);
    const call = (part: number) => ({ kind: 'tool_call', id: `toolu_${part}`, name: 'get', tool: 'function' }) as const;
    return {
      opening: call,
      pieces: splitAt(json, cuts),
      signature: null,
      expected: (part) => ({ ...call(part), arguments: json === '' ? '{}' : json, cache_mark: null }),
    };
  });

function splitAt(json: string, cuts: readonly number[]): string[] {
  const places = [0, ...cuts.map((cut) => Math.min(cut, json.length)).sort((one, other) => one - other), json.length];
  return places.flatMap((place, index) => {
    const piece = index === 0 ? '' : json.slice(places[index - 1], place);
    return piece === '' ? [] : [piece];
  });
}

function eventsOf(draft: Draft, part: number): GenerationEvent[] {
  const opening = draft.opening(part);
  const kind = opening.kind === 'tool_call' ? 'arguments_delta' : 'text_delta';
  const signed: GenerationEvent[] =
    draft.signature === null ? [] : [{ kind: 'signature', part, signature: draft.signature }];
  return [
    { kind: 'part_start', part, opening },
    ...draft.pieces.map((piece): GenerationEvent => ({ kind, part, text: piece })),
    ...signed,
    { kind: 'part_end', part },
  ];
}

/** Interleaves the events of all parts; keeps the order within each part and the order in which parts begin. */
function mix(parts: readonly GenerationEvent[][], picks: readonly number[]): GenerationEvent[] {
  const left = parts.map((events) => [...events]);
  const mixed: GenerationEvent[] = [];
  for (let begun = 0, turn = 0; left.some((events) => events.length > 0); turn++) {
    const choices = left.slice(0, begun + 1).filter((events) => events.length > 0);
    const chosen = choices[(picks[turn % picks.length] ?? 0) % choices.length] ?? [];
    if (chosen === left[begun]) begun += 1;
    mixed.push(...chosen.splice(0, 1));
  }
  return mixed;
}

const count = fc.nat(100_000);
const usage: fc.Arbitrary<Usage> = fc.record({
  input: fc.integer({ min: 1, max: 100_000 }),
  cache_read: count,
  cache_write_5m: count,
  cache_write_1h: fc.constant(0),
  output: count,
  reasoning: fc.constant(0),
});

/** Completed responses; `mixed`: several parts may be open at once. */
export function anyAnswer(mixed: boolean): fc.Arbitrary<AnyAnswer> {
  const drafts = fc.array(fc.oneof(speech, reasoning, call), { maxLength: 5 });
  const picks = fc.array(fc.nat(50), { minLength: 1, maxLength: 20 });
  return fc.tuple(drafts, mixed ? picks : fc.constant([0]), usage).map(([parts, order, counters]) => ({
    usage: counters,
    expected: parts.flatMap((draft, part) => draft.expected(part) ?? []),
    events: [
      { kind: 'start', id: 'x', model: 'm' },
      ...mix(parts.map(eventsOf), order),
      { kind: 'usage', usage: counters },
      { kind: 'finish', finish_reason: 'stop', stop_sequence: null, reported: 'stop', explanation: null },
      { kind: 'end' },
    ],
  }));
}
