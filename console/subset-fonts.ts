/**
 * Subsets the fonts for the first load: only the characters that the console itself uses, in the weights it uses. For
 * other characters the browser loads the full font on demand. Writes the font files and their style sheet.
 */
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import subsetFont from 'subset-font';
import type { Plugin } from 'vite';

interface Font {
  readonly family: string;
  readonly file: string;
  /** OpenType features used by the style sheet. */
  readonly features: readonly string[];
  readonly weights: number | { readonly min: number; readonly max: number };
  readonly signs: Signs;
}

/** First and last character of each range. */
type Signs = readonly (readonly [first: number, last: number])[];

/** ASCII and English punctuation: no-break space ± · × – — ‘ ’ “ ” … › ↑ ↓ −. */
const TEXT_SIGNS: Signs = [
  [0x20, 0x7e],
  [0xa0, 0xa0],
  [0xb1, 0xb1],
  [0xb7, 0xb7],
  [0xd7, 0xd7],
  [0x2013, 0x2014],
  [0x2018, 0x2019],
  [0x201c, 0x201d],
  [0x2026, 0x2026],
  [0x203a, 0x203a],
  [0x2191, 0x2191],
  [0x2193, 0x2193],
  [0x2212, 0x2212],
];
/** What identifiers have: ASCII, and – and … where one is missing or shortened. */
const CODE_SIGNS: Signs = [
  [0x20, 0x7e],
  [0x2013, 0x2013],
  [0x2026, 0x2026],
];

const FONTS: Readonly<Record<string, Font>> = {
  inter: {
    family: 'Inter Variable',
    file: '@fontsource-variable/inter/files/inter-latin-wght-normal.woff2',
    features: ['kern', 'tnum', 'cv11', 'ss03'],
    weights: { min: 400, max: 600 },
    signs: TEXT_SIGNS,
  },
  'jetbrains-mono': {
    family: 'JetBrains Mono Variable',
    file: '@fontsource-variable/jetbrains-mono/files/jetbrains-mono-latin-wght-normal.woff2',
    features: [],
    weights: 400,
    signs: CODE_SIGNS,
  },
};
const FOLDER = join(import.meta.dirname, 'fonts');

/** Writes `fonts/` before the build: `fonts.css` and its font files. */
export function subsetFonts(): Plugin {
  return { name: 'subset-fonts', buildStart: async () => void (await writeFonts()) };
}

/** Returns the folder that it wrote. */
export async function writeFonts(): Promise<string> {
  await mkdir(FOLDER, { recursive: true });
  const { resolve } = createRequire(import.meta.url);
  const rules = await Promise.all(
    Object.entries(FONTS).map(async ([name, { family, file, features, weights, signs }]) => {
      const small = await subsetFont(await readFile(resolve(file)), textOf(signs), {
        targetFormat: 'woff2',
        keepFeatures: [...features],
        variationAxes: { wght: weights },
      });
      await writeWhole(`${name}.woff2`, small);
      return fontFace(family, `${name}.woff2`, signs);
    }),
  );
  await writeWhole('fonts.css', rules.join(''));
  return FOLDER;
}

function textOf(signs: Signs): string {
  return signs
    .map(([first, last]) => {
      const codes = Array.from({ length: last - first + 1 }, (_, nth) => first + nth);
      return String.fromCodePoint(...codes);
    })
    .join('');
}

/** Writes atomically: another build may read the file. */
async function writeWhole(name: string, content: string | Uint8Array): Promise<void> {
  const scratch = join(FOLDER, `${name}.${process.pid}`);
  await writeFile(scratch, content);
  await rename(scratch, join(FOLDER, name));
}

/** Covers the same weights as the full font's rule and comes after it, so that it wins for these characters. */
function fontFace(family: string, file: string, signs: Signs): string {
  const range = signs.map(([first, last]) => `U+${first.toString(16)}-${last.toString(16)}`).join(', ');
  return `@font-face {
  font-family: "${family}";
  font-style: normal;
  font-display: swap;
  font-weight: 100 900;
  src: url("./${file}") format("woff2");
  unicode-range: ${range};
}
`;
}
