/**
 * Parses the text of flags into values, and defines the flags that set caps. Invalid text is wrong usage; the error
 * says what was expected. Also reads and renders caps.
 */
import { type Command, InvalidArgumentError } from 'commander';
import { z } from 'zod';
import { formatNanoUsd } from '../billing/money.ts';
import { type LayeredCaps, NO_LAYERED_CAPS } from '../control/policy-changes.ts';
import { parseDurationMs } from '../lib/quantity.ts';
import { layerOf, type SubjectKind } from '../store/ports/limits.ts';
import type { PolicyReader } from '../store/ports/policy.ts';

/** The parsed flags; `none` lifts a cap. */
export interface CapFlags {
  readonly rpm?: number | RemovedLimit;
  readonly tpm?: number | RemovedLimit;
  readonly concurrency?: number | RemovedLimit;
  readonly budgetUsd?: string | RemovedLimit;
  readonly budgetWindow?: string;
}

const COUNT_MAX = 999_999_999;

/** Adds the flags to a command. `of`: the subject of the caps, as the help text names it. */
export function addCapFlags(command: Command, of: string): Command {
  return command
    .option('--rpm <count>', `requests per minute ${of}, or none`, parseCap)
    .option('--tpm <count>', `tokens per minute ${of}, or none`, parseCap)
    .option('--concurrency <count>', `concurrent requests ${of}, or none`, parseCap)
    .option('--budget-usd <amount>', `maximum spend ${of} per window, in USD, or none`, parseAmount)
    .option('--budget-window <window>', 'window of the budget: day, week, month or total (default: total)');
}

/** Converts the flags to command arguments; flags that were not given are omitted. */
export function capArguments(flags: CapFlags): object {
  return {
    rpm: orNull(flags.rpm),
    tpm: orNull(flags.tpm),
    concurrency: orNull(flags.concurrency),
    budget_usd: orNull(flags.budgetUsd),
    budget_window: flags.budgetWindow,
  };
}

function parseCap(text: string): number | RemovedLimit {
  if (text === 'none') return REMOVED_LIMIT;
  try {
    return parseCount(COUNT_MAX)(text);
  } catch (fault) {
    if (!(fault instanceof InvalidArgumentError)) throw fault;
    throw new InvalidArgumentError(`${fault.message.replace(/\.$/, '')}, or none.`);
  }
}

/** The amount stays text until the command parses it exactly. */
function parseAmount(text: string): string | RemovedLimit {
  return text === 'none' ? REMOVED_LIMIT : text;
}

/** The members of a view that contain its caps. */
export const capsView = {
  rpm: z.number().nullable(),
  tpm: z.number().nullable(),
  concurrency: z.number().nullable(),
  budget_nano_usd: z.string().nullable(),
  budget_window: z.string().nullable(),
};
const caps = z.object(capsView);

/** As `capsView`, for a view with both layers. */
export const layeredCapsView = {
  ...capsView,
  own_rpm: z.number().nullable(),
  own_tpm: z.number().nullable(),
  own_concurrency: z.number().nullable(),
  own_budget_nano_usd: z.string().nullable(),
  own_budget_window: z.string().nullable(),
};
const layeredCaps = z.object(layeredCapsView);

/** Renders the operator's caps and, if set, the account's own. */
export function renderLayeredCaps(view: z.infer<typeof layeredCaps>): string {
  const own = renderCaps({
    rpm: view.own_rpm,
    tpm: view.own_tpm,
    concurrency: view.own_concurrency,
    budget_nano_usd: view.own_budget_nano_usd,
    budget_window: view.own_budget_window,
  });
  const operator = renderCaps(view);
  if (own === 'none') return operator;
  return operator === 'none' ? `${own} (set by the account)` : `${operator}; ${own} (set by the account)`;
}

/** Renders all caps in a few words, such as `60 rpm, 10 USD a day`; `none` without caps. */
export function renderCaps({ rpm, tpm, concurrency, budget_nano_usd, budget_window }: z.infer<typeof caps>): string {
  const words = [
    rpm === null ? null : `${rpm} rpm`,
    tpm === null ? null : `${tpm} tpm`,
    concurrency === null ? null : `${concurrency} concurrent`,
    budget_nano_usd === null
      ? null
      : `${renderUsd(budget_nano_usd)} USD ${budget_window === 'total' ? 'in total' : `per ${budget_window}`}`,
  ].filter((word) => word !== null);
  return words.length === 0 ? 'none' : words.join(', ');
}

/** Converts a decimal text of nano-USD to USD, exactly. */
export function renderUsd(nanoUsd: string): string {
  return formatNanoUsd(BigInt(nanoUsd));
}

/** Reads the caps of a subject by its kind and id, in both layers. */
export async function readCapsOf(
  reading: Pick<PolicyReader, 'readLimitRules'>,
  kind: SubjectKind,
): Promise<(id: string) => LayeredCaps> {
  const rules = (await reading.readLimitRules()).filter(({ subject }) => subject.kind === kind);
  const capsById = new Map<string, LayeredCaps>();
  for (const { subject, caps } of rules) {
    const known = capsById.get(subject.id) ?? NO_LAYERED_CAPS;
    capsById.set(subject.id, { ...known, [layerOf(subject)]: caps });
  }
  return (id) => capsById.get(id) ?? NO_LAYERED_CAPS;
}

/** `a,b*` → its parts, trimmed. */
export function parseList(text: string): string[] {
  const parts = text.split(',').map((part) => part.trim());
  if (parts.includes('')) {
    throw new InvalidArgumentError(`found ${JSON.stringify(text)}, expected names separated by single commas.`);
  }
  return parts;
}

/** Means that a restriction is lifted. The command-line parser takes null for no value at all, so a word is needed. */
const REMOVED_LIMIT = 'lifted';
export type RemovedLimit = typeof REMOVED_LIMIT;

/** As `parseList`; the word that lifts the restriction (`*`, `any`) becomes `REMOVED_LIMIT`. */
export function parseListOr(word: string): (text: string) => string[] | RemovedLimit {
  return (text) => (text.trim() === word ? REMOVED_LIMIT : parseList(text));
}

/** Converts a flag's value to a command argument: null if the restriction is lifted. */
export function orNull<Value>(value: Value | RemovedLimit | undefined): Value | null | undefined {
  return value === REMOVED_LIMIT ? null : (value as Value | undefined);
}

/** `none` → an empty list. */
export function parseTags(text: string): string[] {
  return text.trim() === 'none' ? [] : parseList(text);
}

/** `team=web`, given several times: adds it to the tags before. Without a value: null, which removes the tag. */
export function parseTag(
  text: string,
  before: Readonly<Record<string, string | null>> = {},
): Readonly<Record<string, string | null>> {
  const equals = text.indexOf('=');
  if (equals < 1) throw new InvalidArgumentError(`found ${JSON.stringify(text)}, expected name=value.`);
  return { ...before, [text.slice(0, equals)]: text.slice(equals + 1) || null };
}

/** `30d` → ms. */
export function parseSpan(text: string): number {
  try {
    return parseDurationMs(text);
  } catch (fault) {
    throw new InvalidArgumentError(`${fault instanceof Error ? fault.message : String(fault)}.`);
  }
}

/** `30d` → ms, `never` → `REMOVED_LIMIT`. */
export function parseExpiry(text: string): number | RemovedLimit {
  if (text === 'never') return REMOVED_LIMIT;
  const spanMs = parseSpan(text);
  if (spanMs === 0) throw new InvalidArgumentError('found zero, expected a duration such as 30d, or never.');
  return spanMs;
}

/** One of a few words, which the command checks; `inherit` becomes `REMOVED_LIMIT`. */
export function parseInherited(text: string): string | RemovedLimit {
  return text === 'inherit' ? REMOVED_LIMIT : text;
}

/** A whole number of days; the word that inherits the setting becomes `REMOVED_LIMIT`. */
export function parseDaysOr(word: string): (text: string) => number | RemovedLimit {
  return (text) => {
    if (text === word) return REMOVED_LIMIT;
    if (/^\d{1,6}$/.test(text)) return Number(text);
    throw new InvalidArgumentError(`found ${JSON.stringify(text)}, expected a whole number of days, or ${word}.`);
  };
}

/** `on` or `off`. */
export function parseSwitch(text: string): boolean {
  if (text === 'on' || text === 'off') return text === 'on';
  throw new InvalidArgumentError(`found ${JSON.stringify(text)}, expected on or off.`);
}

/** `1204:9f86d0…`: a block of the journal, or an entry from before it, and its hash. */
export function parseNoted(text: string): { number: number; hash: string } {
  const [, number, hash] = /^([1-9]\d{0,14}):([0-9a-fA-F]{64})$/.exec(text) ?? [];
  if (number !== undefined && hash !== undefined) return { number: Number(number), hash: hash.toLowerCase() };
  throw new InvalidArgumentError(
    `found ${JSON.stringify(text)}, expected a number, a colon and a hash of 64 hexadecimal digits, as verify prints them.`,
  );
}

/** A whole number from 1 to `max`. */
export function parseCount(max: number): (text: string) => number {
  return (text) => {
    const count = /^\d{1,9}$/.test(text) ? Number(text) : 0;
    if (count < 1 || count > max) {
      throw new InvalidArgumentError(`found ${JSON.stringify(text)}, expected a whole number from 1 to ${max}.`);
    }
    return count;
  };
}
