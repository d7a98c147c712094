/** Defines the argument schemas that commands share, and their error messages. */
import { z } from 'zod';
import { PriceError, parseUsd } from '../billing/money.ts';
import { DATA_TAG } from '../config/config.ts';
import { normalizeEndUser } from '../lib/end-user-id.ts';
import { HIDDEN, HIDDEN_IN_NAME } from '../lib/hidden-characters.ts';
import { parseIpRange } from '../lib/ip-range.ts';
import { BUDGET_WINDOWS, type BudgetWindow, type Caps } from '../store/ports/limits.ts';
import { BODY_POLICIES, CACHE_MODES, HOLD_MODES, type KeyTags } from '../store/ports/records.ts';
import { CommandFailure } from './command.ts';

/** One percent in parts per million. */
const PPM_PER_PERCENT_DECIMALS = 4;
const MARK_UP_PPM_MIN = -1_000_000;
const MARK_UP_PPM_MAX = 100_000_000;
const PERCENT = /^(-?)([0-9]{1,6})(?:\.([0-9]{1,4}))?$/;

/** A decimal text of USD, 0 or more, as integer nano-USD. A number would already have lost digits. */
export const usdAmount = z.string().transform((text, context) => readUsd(text, context));

/** As `usdAmount`, and greater than zero. */
export const usdMoved = z.string().transform((text, context) => refuseNothing(readUsd(text, context), context));

/** As `usdMoved`; a leading minus sign debits. */
export const usdCorrection = z.string().transform((text, context) => {
  const size = refuseNothing(readUsd(text.replace(/^-/, ''), context), context);
  return text.startsWith('-') ? -size : size;
});

/** A decimal text of percent, such as `12.5` or `-10`, as integer parts per million. */
export const markUpPercent = z.string().transform((text, context) => {
  const [, sign, whole, fraction = ''] = PERCENT.exec(text) ?? [];
  const size = Number(`${whole ?? ''}${fraction.padEnd(PPM_PER_PERCENT_DECIMALS, '0')}`);
  const ppm = sign === '-' && size > 0 ? -size : size;
  if (whole !== undefined && ppm >= MARK_UP_PPM_MIN && ppm <= MARK_UP_PPM_MAX) return ppm;
  context.addIssue({
    code: 'custom',
    message: `found ${JSON.stringify(text.slice(0, 60))}, expected a percentage from -100 to 10000 with at most 4 decimal places, such as 12.5`,
  });
  return z.NEVER;
});

function readUsd(text: string, context: z.core.$RefinementCtx<string>): bigint {
  try {
    return parseUsd(text, 'usd');
  } catch (fault) {
    if (!(fault instanceof PriceError)) throw fault;
    context.addIssue({ code: 'custom', message: `found ${fault.found}, expected ${fault.expected}` });
    return z.NEVER;
  }
}

function refuseNothing(amount: bigint, context: z.core.$RefinementCtx<string>): bigint {
  if (amount === 0n) context.addIssue({ code: 'custom', message: 'found 0 USD, expected another amount' });
  return amount;
}

const LIST_MAX = 1_000;
const PATTERN_LENGTH_MAX = 256;
const TAGS_MAX = 20;
const NAME_LENGTH_MAX = 128;
const END_USER_LENGTH_MAX = 512;
const NOTE_LENGTH_MAX = 512;
const BODIES_DAYS_MAX = 3_650;
const BODIES_DAYS_FAULT = ({ input }: { readonly input?: unknown }) =>
  `found ${quote(input)}, expected a whole number of days from 1 to ${BODIES_DAYS_MAX}`;
export const CACHE_SECONDS_DEFAULT = 3_600;
const CACHE_SECONDS_MAX = 30 * 86_400;
const CACHE_SECONDS_FAULT = ({ input }: { readonly input?: unknown }) =>
  `found ${quote(input)}, expected a whole number of seconds from 1 to ${CACHE_SECONDS_MAX} (30 days)`;
/** A hundred years. */
const SPAN_MS_MAX = 36_525 * 86_400_000;

/** Text of 1 to `lengthMax` characters that cannot disturb a terminal, a log line or a header. */
function plainText(lengthMax: number, hidden = HIDDEN) {
  const isPlain = (text: string) => text.replaceAll(HIDDEN, '').trim() !== '' && text.search(hidden) === -1;
  return z.string().refine((text) => text.length <= lengthMax && isPlain(text), {
    error: (issue) =>
      `found ${quote(issue.input)}, expected 1 to ${lengthMax} characters, not only spaces, no control characters`,
  });
}

export const keyName = plainText(NAME_LENGTH_MAX, HIDDEN_IN_NAME);

export const accountName = plainText(NAME_LENGTH_MAX, HIDDEN_IN_NAME);

/** An id as the user typed it; the command checks whether it exists. */
export const givenId = plainText(NAME_LENGTH_MAX);

/** An id that users choose. */
export const newId = z.string().regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, {
  error: (issue) =>
    `found ${quote(issue.input)}, expected 1 to 64 of a-z, 0-9, - and _, starting with a letter or a digit`,
});

/** Patterns of model names, or null for every model. A list that includes `*` allows every model, and becomes null. */
export const modelPatterns = z
  .array(plainText(PATTERN_LENGTH_MAX))
  .min(1, { error: 'found an empty list, expected at least one model name, or * for every model' })
  .max(LIST_MAX, { error: `expected at most ${LIST_MAX} model names; use * as a wildcard` })
  .nullable()
  .transform((patterns) => (patterns?.includes('*') ? null : patterns));

/** Data tags that targets must carry, each once; an empty list: none. */
export const dataTags = z
  .array(
    z.string().regex(DATA_TAG, {
      error: (issue) =>
        `found ${quote(issue.input)}, expected a tag of 1 to 32 lower-case letters, digits and -, beginning with a letter, such as eu or zdr`,
    }),
  )
  .max(TAGS_MAX, { error: `expected at most ${TAGS_MAX} data tags` })
  .transform((list) => [...new Set(list)]);

/** The stored member for these tags: omitted without tags. */
export function requiredTags(tags: readonly string[]): { readonly requiredTags?: readonly string[] } {
  return tags.length === 0 ? {} : { requiredTags: tags };
}

const KEY_TAGS_MAX = 20;
const KEY_TAG_LENGTH_MAX = 100;

/** A query writes it before a colon: `tag.team:web`. */
const KEY_TAG_NAME = /^[a-z0-9][a-z0-9_.-]{0,39}$/;

/** Tags of a key: name → value. */
function tagsOf<Value extends z.ZodType>(value: Value) {
  return z.record(z.string(), value).superRefine((tags, context) => {
    for (const name of Object.keys(tags)) {
      if (KEY_TAG_NAME.test(name)) continue;
      context.addIssue({
        code: 'custom',
        message: `found the name ${quote(name)}, expected 1 to 40 of a-z, 0-9, _, . and -, starting with a letter or a digit, such as team`,
      });
    }
  });
}

export const keyTags = tagsOf(plainText(KEY_TAG_LENGTH_MAX));

/** Changes of a key's tags, as in a JSON merge patch (RFC 7396): null removes one; others stay. */
export const keyTagChanges = tagsOf(plainText(KEY_TAG_LENGTH_MAX).nullable());

/** The stored member: omitted without tags. @throws CommandFailure for too many tags */
export function changeTags(
  before: KeyTags | undefined,
  changes: Readonly<Record<string, string | null>> | undefined,
): { readonly tags?: KeyTags } {
  const changed = Object.entries({ ...before, ...changes }).flatMap(([name, value]) =>
    value === null ? [] : [[name, value] as const],
  );
  if (changed.length > KEY_TAGS_MAX) {
    throw new CommandFailure(`tags: found ${changed.length} tags, expected at most ${KEY_TAGS_MAX}`, 'usage');
  }
  // In one order, so that the same tags are the same text.
  changed.sort(([one], [other]) => (one < other ? -1 : 1));
  return changed.length === 0 ? {} : { tags: Object.fromEntries(changed) };
}

/** Address ranges of clients, or null for any. */
export const addressRanges = z
  .array(
    z.string().superRefine((text, context) => {
      try {
        parseIpRange(text);
      } catch (fault) {
        context.addIssue({ code: 'custom', message: fault instanceof Error ? fault.message : String(fault) });
      }
    }),
  )
  .min(1, { error: 'found an empty list, expected at least one address or range, or "any"' })
  .max(LIST_MAX, { error: `expected at most ${LIST_MAX} ranges` })
  .nullable();

/** What a key may be used for, each scope once. */
export const scopes = z
  .array(
    z.enum(['inference', 'usage', 'admin'], {
      error: (issue) => `found ${quote(issue.input)}, expected inference, usage or admin`,
    }),
  )
  .min(1, { error: 'found an empty list, expected inference, usage or admin' })
  .transform((list) => [...new Set(list)]);

/** Whether a key is strict. */
export const strictness = z.boolean({ error: (issue) => `found ${quote(issue.input)}, expected true or false` });

/** How much calls hold, or null to inherit: a key from its account, an account from the configuration. */
export const holdMode = z
  .enum(HOLD_MODES, {
    error: (issue) => `found ${quote(issue.input)}, expected ${HOLD_MODES.join(' or ')}, or inherit`,
  })
  .nullable();

/** The time in ms from now until a key expires, or null for never. */
export const expirySpanMs = z
  .int()
  .min(1, { error: 'found zero, expected a duration such as 30d, or never' })
  .max(SPAN_MS_MAX, { error: 'expected at most a hundred years' })
  .nullable();

/** The time at which a key expires, ISO 8601 in UTC (unix ms when read), or null for never. */
export const expiryTime = z.iso
  .datetime({ error: 'expected a time in UTC such as 2027-01-31T12:00:00Z, or null for never' })
  .transform((text) => Date.parse(text))
  .nullable();

/** Which calls' bodies a workspace stores, and for how many days. */
export const bodyPolicy = z.enum(BODY_POLICIES, {
  error: (issue) => `found ${quote(issue.input)}, expected ${BODY_POLICIES.join(', ')}`,
});
export const bodiesDays = z
  .int({ error: BODIES_DAYS_FAULT })
  .min(1, { error: BODIES_DAYS_FAULT })
  .max(BODIES_DAYS_MAX, { error: BODIES_DAYS_FAULT });

/** Which requests of a workspace may be answered from its cache, and for how many seconds. */
export const cacheMode = z.enum(['off', ...CACHE_MODES], {
  error: (issue) => `found ${quote(issue.input)}, expected off, ${CACHE_MODES.join(' or ')}`,
});
export const cacheSeconds = z
  .int({ error: CACHE_SECONDS_FAULT })
  .min(1, { error: CACHE_SECONDS_FAULT })
  .max(CACHE_SECONDS_MAX, { error: CACHE_SECONDS_FAULT });

/** How long in ms an old secret keeps working; 0 ends it at once. */
export const graceMs = z.int().min(0).max(SPAN_MS_MAX, { error: 'expected at most a hundred years' });

export const accountMode = z.enum(['postpaid', 'prepaid'], {
  error: (issue) => `found ${quote(issue.input)}, expected postpaid or prepaid`,
});

/** A name of the IANA time zone database, such as `Europe/Berlin`, in the runtime's preferred spelling. */
export const timeZone = z.string().transform((text, context) => {
  const name = findTimeZone(text);
  if (name !== null) return name;
  context.addIssue({
    code: 'custom',
    message: `found ${quote(text)}, expected the IANA name of a time zone, such as Europe/Berlin`,
  });
  return z.NEVER;
});

/** The value that clients send as `user` or `metadata.user_id`; `*` covers every end user without a rule of its own. */
export const endUserName = plainText(END_USER_LENGTH_MAX).transform((id) => normalizeEndUser(id) ?? id);

/** The public name of a model. The configuration defines which exist, and may change. */
export const modelName = plainText(PATTERN_LENGTH_MAX);

export const movementNote = plainText(NOTE_LENGTH_MAX);

/** The id of a movement of money; repeating an id moves the money once. */
export const movementId = plainText(NAME_LENGTH_MAX);

function findTimeZone(text: string): string | null {
  // Offsets such as +01:00 are not time zone names: they ignore daylight saving time.
  if (!/^[A-Za-z]/.test(text)) return null;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone;
  } catch (fault) {
    if (fault instanceof RangeError) return null;
    throw fault;
  }
}

export function quote(value: unknown): string {
  const text = typeof value === 'string' ? value : String(value);
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}

const PER_MINUTE_MAX = 1_000_000_000;
const CONCURRENCY_MAX = 1_000_000;

const NO_CAPS: Caps = { requestsPerMinute: null, tokensPerMinute: null, concurrency: null, budget: null };

/** A whole number from 1, or null for no cap. */
function cap(max: number) {
  const expected = `expected a whole number from 1 to ${max}, or none`;
  return z.int({ error: expected }).min(1, { error: expected }).max(max, { error: expected }).nullable().optional();
}

/** The arguments of every command that sets caps: an absent cap stays, null removes it. */
export const capArguments = {
  rpm: cap(PER_MINUTE_MAX),
  tpm: cap(PER_MINUTE_MAX),
  concurrency: cap(CONCURRENCY_MAX),
  budget_usd: usdAmount.nullable().optional(),
  budget_window: z
    .enum(BUDGET_WINDOWS, {
      error: ({ input }) => `found ${quote(input)}, expected one of ${BUDGET_WINDOWS.join(', ')}`,
    })
    .optional(),
  /** If omitted: the operator's layer if the operator asks, else the account's own. */
  layer: z.enum(['operator', 'account'], { error: 'expected operator or account' }).optional(),
};

export interface RequestedCaps {
  readonly rpm?: number | null | undefined;
  readonly tpm?: number | null | undefined;
  readonly concurrency?: number | null | undefined;
  readonly budget_usd?: bigint | null | undefined;
  readonly budget_window?: BudgetWindow | undefined;
}

/** Whether the arguments name a cap at all. */
export function namesCaps({ rpm, tpm, concurrency, budget_usd, budget_window }: RequestedCaps): boolean {
  return [rpm, tpm, concurrency, budget_usd, budget_window].some((given) => given !== undefined);
}

/**
 * The caps after a change; null: none is left. A budget without a window keeps its present one; a new budget without
 * one is for all time, the strictest meaning.
 *
 * @throws CommandFailure if a window is given and there is no budget.
 */
export function changeCaps(current: Caps | null, given: RequestedCaps): Caps | null {
  const before = current ?? NO_CAPS;
  const after: Caps = {
    requestsPerMinute: given.rpm === undefined ? before.requestsPerMinute : given.rpm,
    tokensPerMinute: given.tpm === undefined ? before.tokensPerMinute : given.tpm,
    concurrency: given.concurrency === undefined ? before.concurrency : given.concurrency,
    budget: changeBudget(before.budget, given),
  };
  return Object.values(after).every((each) => each === null) ? null : after;
}

function changeBudget(before: Caps['budget'], { budget_usd, budget_window }: RequestedCaps): Caps['budget'] {
  const amount = budget_usd === undefined ? (before?.amount ?? null) : budget_usd;
  if (amount !== null) return { window: budget_window ?? before?.window ?? 'total', amount };
  if (budget_window === undefined) return null;
  throw new CommandFailure(
    `budget_window: found ${budget_window} without a budget, expected an amount with it: --budget-usd N`,
    'usage',
  );
}

/** Members as they were read: the change is refused if one differs by now. */
export const asRead = z.record(z.string(), z.unknown()).optional();
