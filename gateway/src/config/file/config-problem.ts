/** Describes one fault of a configuration and prints it. Also quotes text, renders paths and suggests near names. */

/** One fault, with everything needed to fix it. No member ever contains a credential or a value of the environment. */
export interface ConfigProblem {
  /** The file as it was named, or `environment`. */
  readonly source: string;
  /** Both from 1; null if the fault has no position in a file. */
  readonly line: number | null;
  readonly column: number | null;
  /** Such as `providers.lab.base_url` or `models.a.targets[0]`; empty for the document as a whole. */
  readonly path: string;
  readonly found: string;
  readonly expected: string;
  /** The remedy, as a whole sentence. */
  readonly advice: string;
}

/** A problem without its position: what was found, what was expected, and the remedy. */
export type Fault = Pick<ConfigProblem, 'found' | 'expected' | 'advice'>;

/** `tollgate.yaml:3:9: server.port: found 'x', expected a number from 0 to 65535. Correct the number.` */
export function renderConfigProblem(problem: ConfigProblem): string {
  const place = problem.line === null ? problem.source : `${problem.source}:${problem.line}:${problem.column ?? 1}`;
  const path = problem.path === '' ? '' : `${problem.path}: `;
  return `${place}: ${path}found ${problem.found}, expected ${problem.expected}. ${problem.advice}`;
}

/** A step from a mapping to a member (text) or from a list to an item (number, from 0). */
export type PathStep = string | number;

/** `['models', 'gpt-4.1', 'targets', 0]` → `models['gpt-4.1'].targets[0]`. */
export function renderPath(path: readonly PathStep[]): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else if (!/^[\w-]+$/.test(step)) text += `[${quoteText(step)}]`;
    else text += text === '' ? step : `.${step}`;
  }
  return text;
}

/**
 * The text in single quotes, truncated after 60 characters, without control characters, so that it is safe to print.
 */
export function quoteText(text: string): string {
  const short = text.length > 60 ? `${text.slice(0, 60)}…` : text;
  const visible = short.replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\u2028\u2029]/gu, (character) => {
    return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
  });
  return `'${visible}'`;
}

/**
 * The candidate that the fewest edits (a character added, removed, changed, or two swapped) turn into `name`; the first
 * on a tie. If none is within a third of its length: the only candidate that begins with `name`, else null.
 */
export function chooseNearName(name: string, candidates: readonly string[]): string | null {
  let nearest: string | null = null;
  let nearestSlips = Number.POSITIVE_INFINITY;
  const plain = normalize(name);
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - name.length) > 3) continue;
    const slips = countSlips(plain, normalize(candidate));
    if (slips < nearestSlips && slips <= Math.max(1, Math.floor(candidate.length / 3))) {
      nearest = candidate;
      nearestSlips = slips;
    }
  }
  if (nearest !== null) return nearest;
  const longer = [...candidates].filter((candidate) => plain.length >= 4 && normalize(candidate).startsWith(plain));
  return longer.length === 1 ? (longer[0] ?? null) : null;
}

function normalize(name: string): string {
  return name.toLowerCase().replaceAll('-', '_');
}

/** Optimal string alignment distance, three rows at a time. */
function countSlips(left: string, right: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    for (let column = 1; column <= right.length; column++) {
      const changed = left[row - 1] === right[column - 1] ? 0 : 1;
      let fewest = Math.min((last[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1, (last[column - 1] ?? 0) + changed);
      const swapped = left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      if (row > 1 && column > 1 && swapped) fewest = Math.min(fewest, (beforeLast[column - 2] ?? 0) + 1);
      current.push(fewest);
    }
    beforeLast = last;
    last = current;
  }
  return last[right.length] ?? 0;
}

/** Receives a problem with the value (or the name) at a path of the file. */
export type Report = (path: readonly PathStep[], fault: Fault, at?: 'value' | 'name') => void;

/** Reports each item of a list that an earlier one equals. */
export function reportTwice(items: readonly string[], report: Report): void {
  for (const [index, item] of items.entries()) {
    if (items.indexOf(item) === index) continue;
    report([index], { found: `${item} twice`, expected: 'each once', advice: 'Remove one of them.' });
  }
}

/** A problem with an environment variable. */
export function environmentProblem(variable: string, fault: Fault): ConfigProblem {
  return { source: 'environment', line: null, column: null, path: variable, ...fault };
}
