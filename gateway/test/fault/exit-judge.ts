/** Checks the record, entries and balance of a call against the table of endings. */
import { bodyOf, type Seen } from './exit-acts.ts';
import type { Books, EntryLine, RecordLine } from './exit-books.ts';
import { type Cell, PRICE_NANO } from './exit-cells.ts';
import type { Entries } from './exit-table.ts';

const UPSTREAM_USAGE = { input: 11, output: 5 };
const ANSWER_BYTES = 'Good day to you.'.length;
/** The output tokens that a message reports when it begins. */
const FIRST_OUTPUT = 1;
/** Upstream continues until the buffers towards a stopped reader are full. */
const STOPPED_TOKENS_MIN = 1_000;

/** Returns the violations, one per line; empty if the cell is right. */
export async function judge(cell: Cell, seen: Seen, record: RecordLine, books: Books): Promise<readonly string[]> {
  const { ending, protocol } = cell;
  const status = typeof ending.status === 'number' ? ending.status : ending.status[protocol];
  const error = typeof ending.error === 'object' && ending.error !== null ? ending.error[cell.upstream] : ending.error;
  const source = typeof ending.source === 'string' ? ending.source : ending.source[cell.upstream];
  const entries = await books.entriesOf(record.request_id);
  const problems = [
    differ('the client’s status', seen.status, seen.status === null ? null : status),
    differ('status', record.status, status),
    differ('error', record.error, error),
    differ('usage_source', record.usage_source, source),
    ...judgeUsage(cell, seen, record),
    differ('cost', record.cost_nano_usd, costOf(record).toString()),
    judgeEntries(nameEntries(entries), ending.entries),
    ...judgeSums(entries, record),
    ...judgeAttempts(cell, entries, record),
  ];
  return problems.filter((problem) => problem !== null).map((problem) => `${cell.name}: ${problem}`);
}

/** Checks the account at the end: nothing is held, and the balance fell by what its calls posted. */
export async function judgeBalance(account: string, books: Books): Promise<readonly string[]> {
  const { available, held, charged, toppedUp } = await books.balanceOf(account);
  const problems = [
    differ('held', held, 0n),
    differ('available', available, toppedUp - charged),
    available < 0n ? `available ${available} is below zero` : null,
  ];
  return problems.filter((problem) => problem !== null).map((problem) => `account ${account}: ${problem}`);
}

function judgeUsage(cell: Cell, seen: Seen, { usage }: RecordLine): (string | null)[] {
  const { input, output } = usage;
  const { text } = seen;
  const countedInput = tokensIn(Buffer.byteLength(bodyOf(cell)));
  const exactly = (of: { readonly input: number; readonly output: number }) => [
    differ('input', input, of.input),
    differ('output', output, of.output),
  ];
  switch (cell.ending.charged) {
    case 'nothing':
      return exactly({ input: 0, output: 0 });
    case 'upstream':
      return exactly(UPSTREAM_USAGE);
    case 'counted':
      return exactly({ input: countedInput, output: tokensIn(ANSWER_BYTES) });
    case 'input':
      return exactly({ input: countedInput, output: 0 });
    case 'so_far':
    case 'produced': {
      const isKnown = cell.upstream === 'messages';
      const came = tokensIn(wordBytes(text));
      const least = isKnown && came < FIRST_OUTPUT ? FIRST_OUTPUT : came;
      const most = cell.ending.charged === 'so_far' ? least : tokensIn(bytesOfWords(seen.eventsSent));
      return [
        differ('input', input, isKnown ? UPSTREAM_USAGE.input : countedInput),
        output >= least && output <= most ? null : `output: found ${output}, expected ${least} to ${most}`,
        cell.ending.act === 'stop-reading' && output < STOPPED_TOKENS_MIN ? `output: ${output} fills no buffer` : null,
      ];
    }
  }
}

function costOf({ usage }: RecordLine): bigint {
  return BigInt(usage.input) * PRICE_NANO.input + BigInt(usage.output) * PRICE_NANO.output;
}

function judgeEntries(found: string, expected: Entries): string | null {
  if (expected === 'grown' && (found === 'post' || found === 'extended')) return null;
  return differ('entries', found, expected);
}

function nameEntries(entries: readonly EntryLine[]): string {
  const kinds = entries.map(({ kind }) => kind).filter((kind) => kind !== 'absorb' && kind !== 'absorb_attempts');
  if (kinds.length === 0) return 'none';
  if (kinds.join() === 'hold,void') return 'void';
  if (kinds.join() === 'hold,post') return 'post';
  return /^hold(?:,extend)+,post$/.test(kinds.join()) ? 'extended' : kinds.join();
}

/** The hold equals posted plus released; posted plus written off equals the cost of the usage. */
function judgeSums(entries: readonly EntryLine[], { cost_nano_usd }: RecordLine): (string | null)[] {
  const sum = (...kinds: string[]) =>
    entries.filter(({ kind }) => kinds.includes(kind)).reduce((total, { amount }) => total + amount, 0n);
  const released = entries.reduce((total, entry) => total + entry.released, 0n);
  return [
    differ('posted and released', sum('post', 'void') + released, sum('hold', 'extend')),
    differ('posted and absorbed', (sum('post') + sum('absorb')).toString(), cost_nano_usd),
  ];
}

/**
 * An attempt has a cost only if the provider may bill it and the record charges nothing for it: it did not become the
 * answer.
 */
function judgeAttempts(cell: Cell, entries: readonly EntryLine[], { attempts }: RecordLine): (string | null)[] {
  const { maybeBilled = false, tellsInput = false, charged } = cell.ending;
  const absorbed = entries.filter(({ kind }) => kind === 'absorb_attempts').map(({ amount }) => amount);
  const cost = attempts.reduce((sum, { cost_nano_usd }) => sum + BigInt(cost_nano_usd ?? 0), 0n);
  const isTold = tellsInput && cell.upstream === 'messages';
  const input = isTold ? UPSTREAM_USAGE.input : tokensIn(Buffer.byteLength(bodyOf(cell)));
  const last = attempts.at(-1);
  // An idle connection that the provider closed is repeated at once: the first time in a call also beyond the limit.
  const firstReset = attempts.findIndex((row) => row.class === 'reset');
  const wasIdleClosed = firstReset !== -1 && firstReset === cell.ending.attempts - 1 ? 1 : 0;
  const lost = charged === 'nothing' ? attempts : attempts.slice(0, -1);
  return [
    differ('number of attempts', attempts.length, cell.ending.attempts + wasIdleClosed),
    ...lost.map(({ billed }) => differ('billed', billed, maybeBilled ? 'maybe' : undefined)),
    ...lost.map(({ usage }) => differ('input of the attempt', usage?.input, maybeBilled ? input : undefined)),
    charged === 'nothing' ? null : differ('billed at the end', last?.billed, undefined),
    differ('cost of the attempts', absorbed.join(), cost === 0n ? '' : cost.toString()),
    differ('whether they cost something', absorbed.length > 0, maybeBilled),
  ];
}

/** Byte length of the numbered words in a text. */
function wordBytes(text: string): number {
  return [...text.matchAll(/"(w\d+ )"/g)].reduce((total, [, word = '']) => total + word.length, 0);
}

/** Byte length of `count` numbered words: the maximum that so many records can carry. */
function bytesOfWords(count: number): number {
  let bytes = 0;
  for (let word = 1; word <= count; word += 1) bytes += `w${word} `.length;
  return bytes;
}

function tokensIn(bytes: number): number {
  return Math.ceil(bytes / 4);
}

function differ(what: string, found: unknown, expected: unknown): string | null {
  return found === expected ? null : `${what}: found ${String(found)}, expected ${String(expected)}`;
}
