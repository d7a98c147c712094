/** Checks single files: size, first line, name, escapes from the checkers, floating point near money. */
import type { Source, Tree, Violation } from './source-tree.ts';

const FILE_LINES_MAX = 400;
const TEST_LINES_MAX = 600;
const FOLDER_FILES_MAX = 15;
const WORDS_OF_NO_MEANING = /(^|[-/])(manager|helpers?|utils?|service|common|misc)([-./]|$)|(^|[-/])base\./;
/** Escapes from the compiler or the linter, and postponed work. Checked in gateway/src and gateway/scripts. */
const CODE_ESCAPES: readonly RegExp[] = [/\bas any\b/, /(?<=[(,:<|&]\s*)any(?=\s*[[\],;)=>|&])/];
const COMMENT_ESCAPES: readonly RegExp[] = [
  /@ts-(ignore|expect-error|nocheck)\b/,
  /\bbiome-ignore\b/,
  /(\/\/|\/\*|^\s*\*).*\b(TODO|FIXME|HACK|XXX)\b/,
];
/** Conversions of money to floating point. Counting tokens and checking a number's kind is fine. */
const FLOATS = /\bparseFloat\b|\bNumber\(|\bMath\.(round|floor|ceil|trunc)\b|\.toFixed\(|\bFloat(32|64)Array\b/;
/** Not money, although on the same line: the power of ten in a price's text. */
const NO_MONEY = /\bNumber\(match\[3\] \?\? '0'\)/;

/** No file is longer than the limit of its kind. */
export function sizes({ sources }: Tree): Violation[] {
  return sources.flatMap((source) => {
    const max = source.test ? TEST_LINES_MAX : FILE_LINES_MAX;
    return lineCount(source) > max
      ? [`${source.path}: ${lineCount(source)} lines; at most ${max}, so give a part its own file`]
      : [];
  });
}

/** No folder has more source files than a reader can survey; tests and contract suites are not counted. */
export function folderSizes({ sources }: Tree): Violation[] {
  const counted = new Map<string, number>();
  for (const { path } of sources.filter((source) => !/(\.(test|bench)|-contract)\.tsx?$/.test(source.path))) {
    const folder = path.slice(0, path.lastIndexOf('/'));
    counted.set(folder, (counted.get(folder) ?? 0) + 1);
  }
  return [...counted].flatMap(([folder, count]) =>
    count > FOLDER_FILES_MAX
      ? [`${folder}: ${count} source files; at most ${FOLDER_FILES_MAX}, so merge splinters or group files by meaning`]
      : [],
  );
}

function lineCount({ text }: Source): number {
  return text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
}

/** A file opens with a comment that states its purpose. */
export function openingComments({ sources }: Tree): Violation[] {
  return sources
    .filter(({ lines }) => !/^(\/\*\*|\/\/)/.test(lines[0] ?? ''))
    .map(({ path }) => `${path}: opens without a comment; state its purpose in a verb phrase, such as “Parses …”`);
}

/** A doc comment is followed by what it describes, except the opening of a file. */
export function strandedComments({ sources }: Tree): Violation[] {
  return sources.flatMap(({ path, lines }) =>
    lines.flatMap((line, index) => {
      if (!line.endsWith('*/') || lines[index + 1] !== '') return [];
      const start = lines.findLastIndex((above, at) => at <= index && above.includes('/**'));
      return start <= 1 ? [] : [`${path}:${start + 1}: a comment that stands alone; attach it to what it describes`];
    }),
  );
}

/** Imports are one block without blank lines. */
export function importBlocks({ sources }: Tree): Violation[] {
  return sources.flatMap(({ path, lines }) =>
    lines.flatMap((line, index) => {
      const [above = '', below = ''] = [lines[index - 1], lines[index + 1]];
      const isBetween = line === '' && /^(import|\}) .*';$/.test(above) && below.startsWith('import ');
      return isBetween ? [`${path}:${index + 1}: a blank line between imports; delete it`] : [];
    }),
  );
}

/** File names are kebab-case and descriptive. */
export function fileNames({ sources }: Tree): Violation[] {
  return sources.flatMap(({ path }) => {
    const file = path.split('/').at(-1) ?? path;
    if (!/^[a-z0-9]+(-[a-z0-9]+)*(\.(test|bench|d|generated))?\.(ts|tsx|cts|cjs)$/.test(file))
      return [`${path}: the name is not kebab-case`];
    return WORDS_OF_NO_MEANING.test(path) ? [`${path}: the name says nothing; name the file by what it exports`] : [];
  });
}

/** No escape from the type checker or the linter, and no postponed work, in gateway/src and gateway/scripts. */
export function escapes({ sources }: Tree): Violation[] {
  return sources
    .filter(({ path }) => /^gateway\/(src|scripts)\//.test(path))
    .flatMap((source) => {
      const code = { ...source, lines: source.lines.map(withoutComment) };
      return [...linesMatching(code, CODE_ESCAPES), ...linesMatching(source, COMMENT_ESCAPES)];
    })
    .map((where) => `${where}: an escape from a check, or work put off`);
}

function withoutComment(line: string): string {
  return line.replace(/^\s*(\/\*|\*).*|\/\/.*/, '');
}

/** Money is integers: nothing below billing/ creates a float. Tests may, to compare. */
export function floatMoney({ sources }: Tree): Violation[] {
  return sources
    .filter(({ path, test }) => path.startsWith('gateway/src/billing/') && !test)
    .map((source) => ({ ...source, lines: source.lines.map((line) => line.replace(NO_MONEY, '')) }))
    .flatMap((source) =>
      linesMatching(source, [FLOATS]).map((where) => `${where}: floating point near money; use bigint`),
    );
}

function linesMatching({ path, lines }: Source, patterns: readonly RegExp[]): string[] {
  return lines.flatMap((line, index) =>
    patterns.some((pattern) => pattern.test(line)) ? [`${path}:${index + 1}`] : [],
  );
}
