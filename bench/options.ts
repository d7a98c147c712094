/** Parses the bench's command line: flags, bounds, error messages. */
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type BenchCase, CASES } from './cases.ts';
import { WINDOWS } from './compare.ts';
import type { Timing } from './measure.ts';
import { OWN_TOLLGATE } from './rig.ts';
import type { Subject } from './subjects/subject.ts';
import { SUBJECTS } from './subjects/subjects.ts';

export interface BenchOptions {
  readonly subjects: readonly Subject[];
  readonly cases: readonly BenchCase[];
  readonly rounds: number;
  readonly timing: Timing;
  /** Timing of the uncounted pass before the rounds. */
  readonly rehearsal: Timing;
  /** File for the whole result; null: a one-line summary on standard output. */
  readonly jsonFile: string | null;
  readonly strict: boolean;
  /** Absolute path of the launcher of the Tollgate to measure. */
  readonly tollgateCommand: string;
  /** Absolute path of the launcher that it is compared with; null: no comparison. */
  readonly compareCommand: string | null;
}

export const USAGE_TEXT = `bench/main.ts: CPU, latency and memory per call, on one upstream and one machine
  --only A,B       subjects (default: all that run here):
                   ${SUBJECTS.map(({ name }) => name).join(', ')}
  --case A,B       cases: ${CASES.map(({ name }) => name).join(', ')} (default: all)
  --seconds N      timed seconds per measurement, 0.2 to 60 (default 1.4)
  --rounds N       rounds over all subjects, 1 to 20 (default 3)
  --quick          one short round: under a minute, rough numbers
  --json FILE      the whole result as JSON into FILE, not a summary on standard output
  --skip-portkey   leave Portkey out (the first run installs it from npm)
  --tollgate PATH  the launcher to measure (default: this checkout's bin/tollgate)
  --compare PATH   only compare with the Tollgate of another launcher, in ${WINDOWS} pairs of windows for each case
  --strict         exit with 1 where a target is missed, failed or not measured
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

interface Timings {
  readonly timing: Timing;
  readonly rehearsal: Timing;
}

/**
 * The rehearsal also lets the subjects' code reach the compiler's last tier, which takes some ten thousand calls: a
 * gateway runs for weeks, not for seconds. The quick times fit a paced stream, which lasts a second, into one rehearsal
 * and one round each.
 */
function chooseTimings(quick: boolean, seconds: number | null): Timings {
  const timing = quick
    ? { warmupMs: 200, windowMs: 600, settleMs: 50 }
    : { warmupMs: 400, windowMs: 1400, settleMs: 100 };
  return {
    timing: seconds === null ? timing : { ...timing, windowMs: seconds * 1000 },
    rehearsal: quick ? { warmupMs: 200, windowMs: 300, settleMs: 0 } : { warmupMs: 200, windowMs: 850, settleMs: 0 },
  };
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
  const rounds = parseNumber('--rounds', values.rounds, 1, 20);
  if (rounds !== null && !Number.isInteger(rounds)) {
    throw new WrongUsage(`--rounds: found "${values.rounds}", expected a whole number`);
  }
  return {
    subjects: chooseNamed('--only', values.only, SUBJECTS).filter(
      ({ name }) => name !== 'portkey' || !values['skip-portkey'],
    ),
    cases: chooseNamed('--case', values.case, CASES),
    rounds: rounds ?? (values.quick ? 1 : 3),
    ...chooseTimings(values.quick, parseNumber('--seconds', values.seconds, 0.2, 60)),
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
      'skip-portkey': { type: 'boolean', default: false },
      tollgate: { type: 'string' },
      compare: { type: 'string' },
      strict: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  }).values;
}
