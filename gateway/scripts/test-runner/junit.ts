/** Parses the JUnit file that `bun test` writes: outcome and error of each test, and the duration of each file. */

export type Outcome = 'passed' | 'failed' | 'skipped' | 'todo';

export interface TestCase {
  /** Path relative to the folder the run was started in. */
  readonly file: string;
  /** The names of the describes around the test, the outermost first, then its own. */
  readonly path: readonly string[];
  readonly outcome: Outcome;
  /** The error of a failed test with its stack, or Bun's reason, such as `test timed out`; else empty. */
  readonly error: string;
}

const TAG = /<(\/?)(testsuite|testcase|skipped|failure|error)\b((?:"[^"]*"|[^">])*?)(\/?)>/g;
const ENTITY = /&(?:lt|gt|quot|apos|amp|#(\d+)|#x([0-9a-fA-F]+));/g;
const NAMED: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&apos;': "'",
  '&amp;': '&',
};

/** Parses the file's text. Throws if it ends inside a suite, which happens when the run was killed while writing. */
export function parseJunit(xml: string): TestCase[] {
  const cases: TestCase[] = [];
  const suites: string[] = [];
  let open: { file: string; path: string[]; outcome: Outcome; error: string } | null = null;
  for (const { 0: text, index, 1: closing, 2: tag, 3: attributes = '', 4: empty } of xml.matchAll(TAG)) {
    if (tag === 'testsuite') {
      if (closing === '/') suites.pop();
      else suites.push(attribute(attributes, 'name'));
    } else if (tag === 'testcase') {
      if (closing !== '/') {
        // The outermost suite is the file itself.
        const path = [...suites.slice(1), attribute(attributes, 'name')];
        open = { file: attribute(attributes, 'file'), path, outcome: 'passed', error: '' };
      }
      if (open !== null && (closing === '/' || empty === '/')) {
        cases.push(open);
        open = null;
      }
    } else if (open !== null && closing !== '/') {
      if (tag === 'skipped') open.outcome = attribute(attributes, 'message') === 'TODO' ? 'todo' : 'skipped';
      else {
        const start = index + text.length;
        const error =
          empty === '/' ? attribute(attributes, 'message') : decodeEntities(xml.slice(start, xml.indexOf('<', start)));
        open.outcome = 'failed';
        open.error += `${error.trimEnd()}\n`;
      }
    }
  }
  if (suites.length > 0 || open !== null || !xml.includes('</testsuites>')) {
    throw new Error('the JUnit file ends in the middle of a suite: the run was cut while writing it');
  }
  return cases;
}

function attribute(attributes: string, name: string): string {
  const found = new RegExp(`\\b${name}="([^"]*)"`).exec(attributes)?.[1] ?? '';
  return decodeEntities(found);
}

function decodeEntities(text: string): string {
  return text.replaceAll(ENTITY, (entity, decimal?: string, hex?: string) => {
    if (decimal !== undefined) return String.fromCodePoint(Number(decimal));
    if (hex !== undefined) return String.fromCodePoint(Number.parseInt(hex, 16));
    return NAMED[entity] ?? entity;
  });
}

/** Seconds of each file, including its hooks. */
export function parseFileSeconds(xml: string): Map<string, number> {
  const seconds = new Map<string, number>();
  let depth = 0;
  for (const [, closing, tag, attributes = ''] of xml.matchAll(TAG)) {
    if (tag !== 'testsuite') continue;
    if (closing !== '/' && depth === 0)
      seconds.set(attribute(attributes, 'file'), Number(attribute(attributes, 'time')));
    depth += closing === '/' ? -1 : 1;
  }
  return seconds;
}
