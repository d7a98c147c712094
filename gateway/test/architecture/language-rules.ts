/**
 * Checks the words of comments, test names, documentation pages, messages in gateway/src and the console's interface:
 * no phrase that is not plain modern English, and no coined term for which the field has a word. Each finding names the
 * replacement.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Source, Tree, Violation } from './source-tree.ts';

interface Phrase {
  readonly found: RegExp;
  /** What to write instead. */
  readonly use: string;
}

/** The worst of what reads as if it were translated, each with its replacement. */
const PHRASES: readonly Phrase[] = [
  { found: /^\W*Owns\b/, use: 'the purpose as a verb phrase, such as “Parses …”' },
  { found: /\bwho(so)?ever\b/i, use: 'the person or program by its noun: “the client that …”, “a user who …”' },
  { found: /\bwhom\b/i, use: 'a sentence with the person as its subject' },
  { found: /\bsomebody\b/i, use: '“someone”, or the noun: user, client, operator' },
  { found: /\b(no|every)body\b/i, use: '“no one”, “everyone”, or the noun: “no client”, “all users”' },
  { found: /\b(he|his|him|himself)\b/i, use: '“they”, “their”, “them”' },
  { found: /\b(is|are) none\b(?! of\b)/i, use: '“without …”, “no …” or “is not a …”' },
  {
    found: /\b(is|are|was|pays?|gets?) what (came|is|was|were|has)\b/i,
    use: 'the noun: “the output so far”, “the charge”',
  },
  { found: /\bof wh(ich|ose)\b/i, use: 'two clauses: “…; each …”, or “with …”' },
  { found: /\b(is|are) to be\b/i, use: '“must be” or the plain verb' },
  { found: /\bborne?\b/i, use: '“paid by” or “written off”' },
  { found: /\banew\b/i, use: '“again”, “resets” or “restarts”' },
  { found: /\b(lies|lie) in\b/i, use: '“is in” or “is stored in”' },
  { found: /\bthe house\b/i, use: '“the operator” or “the installation”' },
  { found: /, for (it|they|this|these|those) (is|are|was|were|has|have|can|may|must)\b/i, use: '“because …”' },
  {
    found: /\b(is|are|was|were) told (so|of|apart)\b|\bas told\b/i,
    use: '“reports”, “distinguished” or “as reported”',
  },
  { found: /\bdone without\b/i, use: '“omitted”' },
];

/** Phrases that no name of a test uses, in addition to `PHRASES`. */
const TEST_NAMES: readonly Phrase[] = [
  { found: /^what (?!if\b)/i, use: 'the noun: “a request that …”, “the size of …”' },
];

/** Terms of our own for which the field has a word: as identifiers and in words. */
const COINED: readonly Phrase[] = [
  { found: /\b(Gate|makeGate|openGate)\b/, use: 'CallDeps' },
  { found: /\bMoneyDesk\b/, use: 'BillingDeps' },
  { found: /\bContentDesk\b/, use: 'ContentRecorder' },
  { found: /\b(HoldWish|\w*Wish(es)?|wish(es|ed)?)\b/, use: 'HoldRequest, request, options' },
  { found: /\bUsageApart\b/, use: 'MediaAndToolUsage, usage.extras' },
  { found: /\bStandings?\b/, use: 'RateLimitStatus' },
  { found: /\b[Rr]osters?\b/, use: 'openCalls' },
  { found: /\bdisorders?\b/i, use: 'protocolViolations' },
  { found: /\bupstream_nonsense\b/, use: 'upstream_malformed' },
  { found: /\bupstream_refused_us\b/, use: 'upstream_credential' },
  { found: /\bstore_away\b/, use: 'store_unavailable' },
  { found: /\bDisproof\b/, use: 'LedgerInvariantError' },
  { found: /\b(create)?FarQueries\b/, use: 'WorkerQueries, createWorkerQueries' },
  { found: /\bkeepAndBind\b/, use: 'persistAndApply' },
  { found: /\b[Uu]nkept(Ends)?\b/, use: 'unsavedSettlements' },
  { found: /\b[Ll]earntRatios?\b/, use: 'tokenRatio' },
  { found: /\b[Ff]lagUsage\b/, use: 'usageChecks' },
  { found: /\b[Oo]ddUsage\b/, use: 'usageAnomalies' },
  { found: /\b(told|Told)(?=[A-Z])\w*/, use: 'reported, received or sent' },
  { found: /\bNOBODY\b/, use: 'ANONYMOUS' },
];

/** Phrases that no label, message or hint of the console uses, in addition to `PHRASES`. */
const INTERFACE: readonly Phrase[] = [
  { found: /\be-mails?\b/i, use: '“Email”' },
  { found: /\b(no|new|all|these|those|older|newer|every|each|the|its|of|running) calls?\b/i, use: '“request”' },
  {
    found: /(?<!\btool )\bcalls? (at once|a minute|that|with|under|over|per|is|are|needs?|needed|without)\b/i,
    use: '“request”',
  },
  { found: /^Calls$/, use: '“Requests”' },
  { found: /\bmade\b/i, use: '“created”' },
  { found: /\b(held|holds?)\b/i, use: '“reserved” for money, “applies” for rules' },
  { found: /\b(was|were|is) said\b/i, use: '“prompts and responses”' },
  { found: /\bbinds?\b/i, use: '“applies to”, “applies from the next request”' },
  { found: /\babsorb(ed|s)?\b/i, use: '“written off”' },
  { found: /\bbooked\b/i, use: '“recorded”' },
  { found: /\bgoe?s? on\b/i, use: '“continue” or “keep …”' },
  { found: /\bt(ake|aken|ook) (it |them |the \w+ )?(back|away|out)\b/i, use: '“revoke”, “clear” or “remove”' },
  { found: /\bhand(ed)? (over|out|to)\b/i, use: '“share”' },
  { found: /\bwhole again\b/i, use: '“resets”' },
  { found: /\bbegins?\b/i, use: '“start”' },
  { found: /\bstands?\b/i, use: '“appears” or “is shown”' },
  { found: /\bbeside\b/i, use: '“compare” or “next to”' },
  { found: /\d %/, use: 'no space before the percent sign' },
  {
    found: /\b(requests|tokens|calls|\d+) a (minute|day|week|month)\b|\beach (day|week|month)\b/i,
    use: '“/min”, “per day”, “daily”',
  },
  { found: /\bbudget of the\b/i, use: '“daily budget”, “monthly budget”' },
  { found: /\blongest answers?\b/i, use: '“max output tokens”' },
  { found: /\banswered by\b/i, use: '“served by” or “provider”' },
  { found: /\brefuse[sd]?\b/i, use: '“rejected” or “blocked”' },
  { found: /\bnot known\b/i, use: '“Unknown”' },
  { found: /\bsealed\b/i, use: '“encrypted”' },
  { found: /\brights\b/i, use: '“role” or “permissions”' },
  { found: /\b(catalogue|colou?red|colour|cancelled|labelled)\b/i, use: 'American spelling' },
  { found: /\b(mark-up|set-up|lower-case|sign in by)\b/i, use: '“markup”, “setup”, “lowercase”, “sign in with”' },
  { found: /^(Who|Whose|What|Which|Where) (is|it|may|was|were|holds|became|would|body|you|called|a)\b/, use: 'a noun' },
  { found: /^(Is|Goes|Pays|May|Made|Of)$/, use: 'a noun: “Value”, “Routes to”, “Billing mode”, “Permissions”' },
];

/** Files that must contain such words: the rule and its tests, and the former names in stored records. */
const EXEMPT = [
  /^gateway\/test\/architecture\/(language-rules|planted\.test)\.ts$/,
  /^gateway\/src\/store\/sqlite\/ledger\/call-record-row(\.test)?\.ts$/,
];
const PAGES = ['*.md', 'docs/**/*.md', 'bench/*.md', 'console/*.md', 'gateway/*.md'];

/** No banned phrase and no coined term in comments, in messages of gateway/src and on documentation pages. */
export function plainWords({ root, sources }: Tree): Violation[] {
  const own = sources.filter(({ path }) => !EXEMPT.some((pattern) => pattern.test(path)));
  return [...own.flatMap(judgeSource), ...pagesOf(root).flatMap((path) => judgePage(root, path))];
}

/** Judges string literals and JSX text. Code between them is not judged. */
export function plainInterface({ sources }: Tree): Violation[] {
  return sources
    .filter(({ path, test }) => path.startsWith('console/src/') && !test)
    .flatMap(({ path, lines }) =>
      lines.flatMap((line, index) =>
        [...messagesOf(line), ...(path.endsWith('.tsx') ? jsxTextOf(line) : [])].flatMap((words) =>
          judge(`${path}:${index + 1}`, words.replace(/\$\{[^{}]*\}/g, '0'), [...PHRASES, ...INTERFACE]),
        ),
      ),
    );
}

/** Attributes and elements on the line, and a line that is nothing but words. */
function jsxTextOf(line: string): string[] {
  if (/^\s*(\/\*|\*|\/\/|\{\/\*)/.test(line)) return [];
  const texts = [...line.matchAll(/>([^<>{}=;]+)<\/|[a-zA-Z]="(\w+)"/g)].map(([, text, word]) => text ?? word ?? '');
  const isText =
    /^\s*[^\s<>(){}=;/*@.?:&|'`][^=;(){}'"`]*$/.test(line) && !/^\s*[\w.]+,?$|^\s*(\| |extends )/.test(line);
  return isText ? [...texts, line.trim()] : texts;
}

function judgeSource({ path, lines, test }: Source): Violation[] {
  const hasMessages = path.startsWith('gateway/src/') && !test;
  return lines.flatMap((line, index) => {
    const where = `${path}:${index + 1}`;
    const messages = hasMessages ? messagesOf(line) : [];
    const names = test ? testNamesOf(line) : [];
    return [
      ...[commentOf(line), ...messages].flatMap((words) => judge(where, words, PHRASES)),
      ...names.flatMap((words) => judge(where, words, [...PHRASES, ...TEST_NAMES])),
      ...judge(where, line, COINED),
    ];
  });
}

/** Code blocks, code and quotations are not judged. */
function judgePage(root: string, path: string): Violation[] {
  return proseOf(root, path).flatMap((line, index) =>
    judge(`${path}:${index + 1}`, unquoted(line), [...PHRASES, ...COINED]),
  );
}

/** The lines of a page; those of code blocks are empty. */
function proseOf(root: string, path: string): string[] {
  const text = readFileSync(join(root, path), 'utf8');
  return text.replace(/^```[\s\S]*?^```$/gm, (block) => block.replace(/[^\n]/g, '')).split('\n');
}

/** Files that pages name exist, by their paths or the ends of these; `*` and `<format>` stand for any name. */
export function namedFiles({ root, sources }: Tree): Violation[] {
  const paths = sources.map(({ path }) => path);
  return pagesOf(root).flatMap((page) =>
    proseOf(root, page).flatMap((line, index) =>
      [...line.matchAll(/`([^`\s]+\.(?:ts|tsx|cjs))`/g)].flatMap(([, name = '']) => {
        const pattern = name.replace(/[.+^${}()|[\]\\]/g, '\\$&').replace(/\*|<[^>]+>/g, '[^/]+');
        const isThere = paths.some((path) => new RegExp(`(^|/)${pattern}$`).test(path)) || existsSync(join(root, name));
        return isThere
          ? []
          : [`${page}:${index + 1}: names ${name}, which does not exist; name the file that has it now`];
      }),
    ),
  );
}

function pagesOf(root: string): string[] {
  return PAGES.flatMap((pattern) => [...new Bun.Glob(pattern).scanSync({ cwd: root })])
    .filter((path) => !path.includes('node_modules/') && existsSync(join(root, path)))
    .sort();
}

function judge(where: string, words: string, phrases: readonly Phrase[]): Violation[] {
  return phrases
    .filter(({ found }) => found.test(words))
    .map(({ found, use }) => `${where}: “${found.exec(words)?.[0].trim()}”; use ${use}`);
}

/** The words of a line's comment; empty where it has none. */
function commentOf(line: string): string {
  return unquoted(/^\s*(?:\/\*\*?|\*|\/\/)(?!\/)(.*)$/.exec(line)?.[1] ?? /\s\/\/ (.*)$/.exec(line)?.[1] ?? '');
}

/** The name that a line gives to a test, a group of tests or a table of them. */
function testNamesOf(line: string): string[] {
  const found = /(?:\b(?:test|describe)(?:\.\w+(?:\(.*?\))?)*|^\s*\]\)|^\s*\]\s*as .*\))\(\s*(['"`])(.*?)\1/.exec(line);
  return found?.[2] === undefined ? [] : [found[2]];
}

/** String literals of a line that are sentences or parts of one: they have a space. */
function messagesOf(line: string): string[] {
  if (/^\s*(\/\*|\*|\/\/)/.test(line)) return [];
  return [...line.matchAll(/'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|`((?:[^`\\]|\\.)*)`/g)]
    .map(([, single, double, template]) => single ?? double ?? template ?? '')
    .filter((text) => text.includes(' '));
}

/** Text between backticks and quotation marks is quoted. */
function unquoted(line: string): string {
  return line.replace(/`[^`]*`|“[^”]*”|"[^"]*"/g, '');
}
