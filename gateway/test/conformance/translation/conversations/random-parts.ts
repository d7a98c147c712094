/**
 * Generates random conversation parts in normal form: what both formats can express, with texts, digits and ids that
 * translations tend to corrupt.
 */
import fc from 'fast-check';
import type {
  CacheMark,
  DocumentPart,
  MediaPart,
  Part,
  ReasoningPart,
  TextPart,
  ToolResultPart,
} from '../../../../src/generation/part.ts';

const PNG = '89504e470d0a1a0a0000000d49484452';
const JPEG = 'ffd8ffe000104a46494600010100';
const PDF = '255044462d312e37';

/** A text with at least one visible character; any script, with quotes, escapes and line ends. */
export const spokenText: fc.Arbitrary<string> = fc
  .tuple(
    fc.string({ unit: 'binary', maxLength: 14 }),
    fc.constantFrom('a', '"', '\\', '\u{1f600}', 'ü', '\u2028.', '</system>'),
  )
  .map(([text, seen]) => `${text}${seen}`);

/** Includes texts that are empty or blank. */
const anyText = fc.oneof({ arbitrary: spokenText, weight: 5 }, fc.constantFrom('', ' ', '\n'));

export const mark: fc.Arbitrary<CacheMark | null> = fc.oneof(
  { arbitrary: fc.constant(null), weight: 8 },
  { arbitrary: fc.constantFrom(null, 5, 30, 60, 720).map((ttlMinutes) => ({ ttlMinutes })), weight: 1 },
);

const spoken = fc
  .tuple(spokenText, mark)
  .map(([text, cache_mark]): TextPart => ({ kind: 'text', text, citations: [], cache_mark }));

const image = fc
  .tuple(
    fc.constantFrom(
      { kind: 'base64', media_type: 'image/png', base64: base64Of(PNG) } as const,
      { kind: 'base64', media_type: 'image/jpeg', base64: base64Of(JPEG) } as const,
      // The bytes have another type than declared: clients' most common mistake.
      { kind: 'base64', media_type: 'image/png', base64: base64Of(JPEG) } as const,
      { kind: 'url', url: 'https://pictures.example/a.png?b=c&d="' } as const,
    ),
    // Other detail values are dropped on the way to messages, and reported.
    fc.constantFrom(null, null, 'auto'),
    mark,
  )
  .map(([source, detail, cache_mark]): MediaPart => ({ kind: 'image', source, detail, cache_mark }));

const pdf = fc
  .tuple(fc.constantFrom(null, 'a.pdf', 'Report', 'B.PDF'), fc.option(spokenText, { freq: 3 }), mark)
  .map(([title, context, cache_mark]): DocumentPart => {
    const source = { kind: 'base64', media_type: 'application/pdf', base64: base64Of(PDF) } as const;
    return { kind: 'document', source, title, context, cites: false, cache_mark };
  });

const textDocument = fc
  .tuple(spokenText, fc.option(spokenText, { freq: 3 }), fc.option(spokenText, { freq: 3 }), fc.nat(9), mark)
  .map(([text, title, context, cites, cache_mark]): DocumentPart => {
    return { kind: 'document', source: { kind: 'text', text }, title, context, cites: cites === 0, cache_mark };
  });

const blank = fc
  .constantFrom('', ' ', '\n\t')
  .map((text): TextPart => ({ kind: 'text', text, citations: [], cache_mark: null }));

/** User content. */
export const said: fc.Arbitrary<Part> = fc.oneof({ arbitrary: spoken, weight: 4 }, image, pdf, textDocument);

/** User content of one turn: a visible part, and sometimes a blank text. */
export const saying: fc.Arbitrary<Part[]> = fc
  .tuple(fc.array(said, { minLength: 1, maxLength: 3 }), fc.option(blank, { freq: 2 }), fc.nat(3))
  .map(([spoke, nothing, place]) => (nothing === null ? spoke : spoke.toSpliced(place, 0, nothing)));

/** Content of instructions. */
export const instructed: fc.Arbitrary<Part> = spoken;

/** Assistant content other than calls: texts, then sometimes a refusal, in chat's order. */
export const answered: fc.Arbitrary<Part[]> = fc
  .tuple(fc.array(spoken, { maxLength: 3 }), fc.option(spokenText, { freq: 2 }))
  .map(([texts, refusal]) => (refusal === null ? texts : [...texts, { kind: 'refusal', text: refusal }]));

/** Reasoning at the start of an assistant turn in the history: signed by Anthropic, unsigned, or signed by us. */
export const thought: fc.Arbitrary<ReasoningPart> = fc
  .tuple(anyText, fc.constantFrom('EqQB+/==', 'gw1.abc', null), fc.boolean())
  .map(([text, signature, redacts]): ReasoningPart => {
    const redacted = redacts && signature === 'EqQB+/==';
    const issuer = signature === null ? null : 'messages';
    return { kind: 'reasoning', text: redacted ? '' : text, signature, redacted, issuer };
  });

/** A tool's result: a single text may be blank, several may not; a cache mark needs a part. */
export const outcome: fc.Arbitrary<Pick<ToolResultPart, 'parts' | 'cache_mark'>> = fc
  .tuple(
    fc.oneof(
      {
        arbitrary: anyText.map((text) => [{ kind: 'text', text, citations: [], cache_mark: null } as const]),
        weight: 3,
      },
      fc.array(fc.oneof(spoken, image, pdf, textDocument), { maxLength: 3 }),
    ),
    mark,
  )
  .map(([parts, cache_mark]) => {
    const last = parts.at(-1);
    const isSeen = last !== undefined && (last.kind !== 'text' || last.text.trim() !== '');
    return { parts, cache_mark: isSeen ? cache_mark : null };
  });

/**
 * Arguments as models write them: digits beyond 2⁵³, order and white space must survive. No duplicate keys: in a
 * messages body the arguments are JSON members, where each key may occur once.
 */
export const functionArguments: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    '',
    '{}',
    '{ }',
    '{"z":9007199254740993123, "a":1.0,"b":1e400}',
    '{"s":"\\ud83d\\ude00 \\u0000 ü","n":[{"x":[]}],"":null}',
    '{\n  "city": "Zürich"\n}',
  ),
  fc.dictionary(spokenText, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 }).map((value) => JSON.stringify(value)),
);

function base64Of(hex: string): string {
  return Buffer.from(hex, 'hex').toString('base64');
}
