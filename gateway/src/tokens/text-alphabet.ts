/** Defines the character classes and text features that token estimates count. Contains no weights. */

/** Features counted in a text. Each character adds to at most one; tokenizers differ in their weights. */
export const TEXT_FEATURES = [
  /** A lowercase letter that begins a word after a space or a line end; after anything else. */
  'word',
  'innerWord',
  /** A capital that begins a word after a space or a line end; a capital within a word; a capital after a capital. */
  'capital',
  'innerCapital',
  'moreCapitals',
  /** The letters at which a word reaches 2, 5 and 8 letters, and each letter from the 11th on. */
  'second',
  'fifth',
  'eighth',
  'eleventh',
  /** The same for words that begin after anything else: at 2 and 5 letters, and each letter from the 9th on. */
  'innerSecond',
  'innerFifth',
  'innerNinth',
  /** The first digit of each group of three; the first one after a space; the others. */
  'digits',
  'spacedDigits',
  'digit',
  /** Punctuation: the first of a run, the others of a run, and repeated characters that draw rules (---, ===). */
  'mark',
  'moreMarks',
  'rule',
  'newline',
  /** The second space of a run; the rest of the run is free. */
  'indent',
  'accent',
  /**
   * Per character, scripts grouped by how tokenizers treat them: Greek with Cyrillic, Hebrew with Arabic and Armenian,
   * those of South and South-East Asia.
   */
  'cyrillic',
  'semitic',
  'indic',
  'kana',
  'hangul',
  'han',
  'wideMark',
  /** A character outside the basic plane: an emoji, a rare ideograph. */
  'astral',
  'other',
] as const;

export type TextFeature = (typeof TEXT_FEATURES)[number];

/**
 * Classes of UTF-16 units. From `accent` on, a class with the name of a feature counts as that feature at any position.
 */
export const CLASSES = [
  'space',
  'newline',
  'lower',
  'upper',
  'digit',
  'mark',
  'ruler',
  'lowSurrogate',
  'accent',
  'cyrillic',
  'semitic',
  'indic',
  'kana',
  'hangul',
  'han',
  'wideMark',
  'astral',
  'other',
] as const;

export type CharacterClass = (typeof CLASSES)[number];

/** Ranges of units and their classes; later ranges override earlier ones. */
const RANGES: ReadonlyArray<readonly [first: number, last: number, of: CharacterClass]> = [
  [0x00, 0x1f, 'other'],
  [0x09, 0x09, 'space'],
  [0x0a, 0x0d, 'newline'],
  [0x20, 0x20, 'space'],
  [0x21, 0x7e, 'mark'],
  [0x30, 0x39, 'digit'],
  [0x41, 0x5a, 'upper'],
  [0x61, 0x7a, 'lower'],
  [0x80, 0xbf, 'wideMark'],
  [0xc0, 0x36f, 'accent'],
  [0x370, 0x52f, 'cyrillic'],
  [0x530, 0x8ff, 'semitic'],
  [0x900, 0x109f, 'indic'],
  [0x10a0, 0x10ff, 'semitic'],
  [0x1100, 0x11ff, 'hangul'],
  [0x1200, 0x1dff, 'indic'],
  [0x1e00, 0x1eff, 'accent'],
  [0x1f00, 0x1fff, 'cyrillic'],
  [0x2000, 0x2fff, 'wideMark'],
  [0x3000, 0x303f, 'wideMark'],
  [0x3040, 0x30ff, 'kana'],
  [0x3100, 0x9fff, 'han'],
  [0x3130, 0x318f, 'hangul'],
  [0xac00, 0xd7ff, 'hangul'],
  [0xd800, 0xdbff, 'astral'],
  [0xdc00, 0xdfff, 'lowSurrogate'],
  [0xf900, 0xfaff, 'han'],
  [0xff00, 0xffef, 'wideMark'],
];
/** Characters that draw rules. */
const RULERS = '-=*_#.~+';

/** The class of each UTF-16 unit, as an index into `CLASSES`. */
export const CLASS_OF_UNIT: Uint8Array = classOfUnit();

function classOfUnit(): Uint8Array {
  const classes = new Uint8Array(0x1_0000).fill(CLASSES.indexOf('other'));
  for (const [first, last, of] of RANGES) classes.fill(CLASSES.indexOf(of), first, last + 1);
  for (const ruler of RULERS) classes[ruler.charCodeAt(0)] = CLASSES.indexOf('ruler');
  return classes;
}
