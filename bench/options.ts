/** Parses the bench's command line: flags, bounds, error messages. */
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type BenchCase, CASES } from './cases.ts';
import { WINDOWS } from './compare.ts';
import type { Timing } from './measure.ts';
import { OWN_TOLLGATE } from './rig.ts';
import type { Subject } from './subjects/subject.ts';
import { BASIC, PEERS, SUBJECTS, TRANSLATED } from './subjects/subjects.ts';

export interface BenchOptions {
  readonly subjects: readonly Subject[];
  readonly cases: readonly BenchCase[];
  readonly rounds: number;
  /** Load before each window. */
  readonly warmupMs: number;
  /** Timing of the uncounted pass before the rounds. */
  readonly rehearsal: Timing;
  /** The figures count, so the machine must be quiet. */
  readonly isJudged: boolean;
  /** File for the whole result; null: a one-line summary on standard output. */
  readonly jsonFile: string | null;
  readonly strict: boolean;
  /** Absolute path of the launcher of the Tollgate to measure. */
  readonly tollgateCommand: string;
  /** Absolute path of the launcher that it is compared with; null: no comparison. */
  readonly compareCommand: string | null;
}

export const USAGE_TEXT = `bench/main.ts: CPU, latency and memory per call, on one upstream and one machine
  --only A,B       subjects: ${SUBJECTS.map(({ name }) => name).join(', ')}
                   (default: ${BASIC.join(', ')})
  --translated     also the Tollgates that translate
  --peers          also other gateways: nginx if it is installed; Portkey and LiteLLM, which the first run installs
  --case A,B       cases: ${CASES.map(({ name }) => name).join(', ')}
                   (default: all)
  --seconds N      timed seconds per window, 0.2 to 60 (default: by case)
  --rounds N       rounds over all subjects, 1 to 100 (default ${WINDOWS}; fewer than 6 judge nothing)
  --quick          one short round: under a minute, rough numbers, no verdicts, also on a busy machine
  --json FILE      the whole result as JSON into FILE, not a summary on standard output
  --tollgate PATH  the launcher to measure (default: this checkout's bin/tollgate)
  --compare PATH   only compare with the Tollgate of another launcher, in ${WINDOWS} pairs of windows for each case
  --strict         exit with 1 where a target is not met
  --help`;

/** The command line is wrong; the message says how. */
export class WrongUsage extends Error {
  override readonly name = 'WrongUsage';
}

/** Entries of `table` named in a comma-separated list, in the table's order; all without a list. */
function chooseNamed<Entry extends { readonly name: string }>(
  flag: string,
  list: string | undefined,
  table: readonly Entry[],
): readonly Entry[] {
  if (list === undefined) return table;
  const names = list.split(',').map((name) => name.trim());
  const known = table.map(({ name }) => name);
  const wrong = names.find((name) => !known.includes(name));
  if (wrong !== undefined) throw new WrongUsage(`${flag}: found "${wrong}", expected some of ${known.join(', ')}`);
  return table.filter(({ name }) => names.includes(name));
}

function parseNumber(flag: string, text: string | undefined, least: number, most: number): number | null {
  if (text === undefined) return null;
  const value = Number(text);
  if (text.trim() !== '' && value >= least && value <= most) return value;
  throw new WrongUsage(`${flag}: found "${text}", expected a number from ${least} to ${most}`);
}

/** The window of a quick run: a paced stream, which lasts a second, fits into rehearsal and round together. */
const QUICK_WINDOW_MS = 600;
const QUICK_CALLS_MAX = 2_000;

/** Windows of another length; a quick run also shortens cases that begin with a start. */
function adjustWindow(benchCase: BenchCase, quick: boolean, windowMs: number | null): BenchCase {
  const { fresh } = benchCase;
  if (!quick) return windowMs === null || fresh !== null ? benchCase : { ...benchCase, windowMs };
  const shortened = fresh === null ? null : { ...fresh, calls: Math.min(fresh.calls, QUICK_CALLS_MAX), settleMs: 100 };
  return { ...benchCase, windowMs: windowMs ?? QUICK_WINDOW_MS, fresh: shortened };
}

/** Parses the arguments after the script's name; null when help was requested. Throws WrongUsage. */
export function parseOptions(args: readonly string[]): BenchOptions | null {
  let values: ReturnType<typeof parseFlags>;
  try {
    values = parseFlags(args);
  } catch (error) {
    throw new WrongUsage(error instanceof Error ? error.message : String(error));
  }
  if (values.help) return null;
  const rounds = parseNumber('--rounds', values.rounds, 1, 100);
  if (rounds !== null && !Number.isInteger(rounds)) {
    throw new WrongUsage(`--rounds: found "${values.rounds}", expected a whole number`);
  }
  const seconds = parseNumber('--seconds', values.seconds, 0.2, 60);
  const names = [...BASIC, ...(values.translated ? TRANSLATED : []), ...(values.peers ? PEERS : [])];
  return {
    subjects: chooseNamed('--only', values.only ?? names.join(','), SUBJECTS),
    cases: chooseNamed('--case', values.case, CASES).map((benchCase) =>
      adjustWindow(benchCase, values.quick, seconds === null ? null : seconds * 1000),
    ),
    rounds: rounds ?? (values.quick ? 1 : WINDOWS),
    warmupMs: values.quick ? 200 : 100,
    // Lets the subjects' code reach the compiler's last tier, which takes some ten thousand calls: a gateway runs for
    // weeks, not for seconds.
    rehearsal: { warmupMs: 200, windowMs: values.quick ? 300 : 3_000, settleMs: 0 },
    isJudged: !values.quick,
    jsonFile: values.json === undefined ? null : resolve(values.json),
    strict: values.strict,
    compareCommand: values.compare === undefined ? null : resolve(values.compare),
    tollgateCommand: values.tollgate === undefined ? OWN_TOLLGATE : resolve(values.tollgate),
  };
}

function parseFlags(args: readonly string[]) {
  return parseArgs({
    args: [...args],
    options: {
      only: { type: 'string' },
      case: { type: 'string' },
      seconds: { type: 'string' },
      rounds: { type: 'string' },
      quick: { type: 'boolean', default: false },
      json: { type: 'string' },
      translated: { type: 'boolean', default: false },
      peers: { type: 'boolean', default: false },
      tollgate: { type: 'string' },
      compare: { type: 'string' },
      strict: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  }).values;
}
