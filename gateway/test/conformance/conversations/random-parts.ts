/**
 * Owns random parts of conversations in normal form: what both formats can say, with the texts, digits and ids that translations
 * like to spoil. Joins no turns.
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
} from '../../../src/generation/part.ts';

const PNG = '89504e470d0a1a0a0000000d49484452';
const JPEG = 'ffd8ffe000104a46494600010100';
const PDF = '255044462d312e37';

/** A text of at least one character that can be seen; of any script, with quotes, escapes and line ends. */
export const spokenText: fc.Arbitrary<string> = fc
  .tuple(
    fc.string({ unit: 'binary', maxLength: 14 }),
    fc.constantFrom('a', '"', '\\', '\u{1f600}', 'ü', '\u2028.', '</system>'),
  )
  .map(([text, seen]) => `${text}${seen}`);

/** Texts that only look like nothing. */
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
      // Its bytes tell another type: the commonest mistake of clients.
      { kind: 'base64', media_type: 'image/png', base64: base64Of(JPEG) } as const,
      { kind: 'url', url: 'https://pictures.example/a.png?b=c&d="' } as const,
    ),
    // Another closeness is dropped by name on the way to messages.
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

/** What a user says. */
export const said: fc.Arbitrary<Part> = fc.oneof({ arbitrary: spoken, weight: 4 }, image, pdf, textDocument);

/** What a user says in one turn: something, and perhaps a text that only looks like nothing. */
export const saying: fc.Arbitrary<Part[]> = fc
  .tuple(fc.array(said, { minLength: 1, maxLength: 3 }), fc.option(blank, { freq: 2 }), fc.nat(3))
  .map(([spoke, nothing, place]) => (nothing === null ? spoke : spoke.toSpliced(place, 0, nothing)));

/** What instructions say. */
export const instructed: fc.Arbitrary<Part> = spoken;

/** What an assistant says beside calls: texts, then perhaps a refusal, as chat orders them. */
export const answered: fc.Arbitrary<Part[]> = fc
  .tuple(fc.array(spoken, { maxLength: 3 }), fc.option(spokenText, { freq: 2 }))
  .map(([texts, refusal]) => (refusal === null ? texts : [...texts, { kind: 'refusal', text: refusal }]));

/** What an assistant thought first, in turns of the history: signed by Anthropic, by nobody, or by us. */
export const thought: fc.Arbitrary<ReasoningPart> = fc
  .tuple(anyText, fc.constantFrom('EqQB+/==', 'gw1.abc', null), fc.boolean())
  .map(([text, signature, redacts]): ReasoningPart => {
    const redacted = redacts && signature === 'EqQB+/==';
    const issuer = signature === null ? null : 'messages';
    return { kind: 'reasoning', text: redacted ? '' : text, signature, redacted, issuer };
  });

/** What a tool gave: a text alone may be blank, among others none is; a mark needs something to stand on. */
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
 * Arguments as models write them: digits beyond 2⁵³, order and white space must survive. A key that comes twice is not among
 * them: in a messages body it stands in the open, where every key may come once.
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
