/** Checks the words of comments and documentation pages against the list of phrases that are not plain modern English. */
import type { Source, Tree, Violation } from './source-tree.ts';

interface Phrase {
  readonly found: RegExp;
  /** What to write instead. */
  readonly use: string;
}

/** The worst of what reads as if it were translated, each with its replacement. */
const PHRASES: readonly Phrase[] = [
  { found: /^\W*Owns\b/, use: 'the purpose as a verb phrase, such as “Parses …”' },
  { found: /\bwhoever\b/i, use: 'the person or program by its noun: “the client that …”, “a user who …”' },
  { found: /\bwhom\b/i, use: 'a sentence with the person as its subject' },
  { found: /\bsomebody\b/i, use: '“someone”, or the noun: user, client, operator' },
  { found: /\bnobody\b/i, use: '“no one”, or “no client”, “no user”' },
  { found: /\b(he|his|him)\b/i, use: '“they”, “their”, “them”' },
  { found: /(?<!\bthere )\bis none\b/i, use: '“there is no …” or “is not a …”' },
  { found: /\b(is|are) to be\b/i, use: '“must be” or the plain verb' },
  { found: /\bborne?\b/i, use: '“paid by” or “written off”' },
  { found: /\banew\b/i, use: '“again”, “resets” or “restarts”' },
  { found: /\b(lies|lie) in\b/i, use: '“is in” or “is stored in”' },
];

/** No banned phrase in the comments of the product's sources. */
export function plainWords({ sources }: Tree): Violation[] {
  return sources
    .filter(({ path, test }) => /^(gateway|console)\/src\//.test(path) && !test)
    .flatMap(({ path, lines }) => lines.flatMap((line, index) => judge(`${path}:${index + 1}`, commentOf(line))));
}

function judge(where: string, words: string): Violation[] {
  return PHRASES.filter(({ found }) => found.test(words)).map(
    ({ found, use }) => `${where}: “${found.exec(words)?.[0].trim()}”; use ${use}`,
  );
}

/** The words of a line's comment; empty where it has none. Text between backticks and quotation marks is quoted. */
function commentOf(line: Source['lines'][number]): string {
  const comment = /^\s*(?:\/\*\*?|\*|\/\/)(?!\/)(.*)$/.exec(line)?.[1] ?? /\s\/\/ (.*)$/.exec(line)?.[1] ?? '';
  return comment.replace(/`[^`]*`|“[^”]*”|"[^"]*"/g, '');
}
