/** Describes one fault of a configuration and prints it. Also quotes text and renders paths. */

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

/** What was found where a file was expected that can be read. */
export function nameUnreadable(fault: unknown): string {
  const code = fault instanceof Error && 'code' in fault ? String(fault.code) : 'unknown';
  return code === 'ENOENT' ? 'no such file' : `a file that cannot be read (${code})`;
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
