/**
 * Defines the types of single values in the file: each parses its text, explains what does not fit, and describes
 * itself in the published schema. Knows no member by name.
 */
import { isIP } from 'node:net';
import { z } from 'zod';
import { type NanoUsd, parseUsd, USD_PER_MILLION_MAX, USD_PER_THOUSAND_MAX } from '../../billing/money.ts';
import { TIER_WORD, TOOL_KIND } from '../../generation/usage.ts';
import { type IpRange, parseIpRange } from '../../lib/ip-range.ts';
import { parseByteSize, parseDurationMs, parseInstantMs } from '../../lib/quantity.ts';
import { Secret } from '../../lib/secret.ts';
import { DATA_TAG } from '../config.ts';
import { type Fault, quoteText } from './config-problem.ts';

export interface BaseUrl {
  /** Scheme, host and path, without a trailing slash. */
  readonly url: string;
  readonly origin: string;
}

/**
 * Parses an address that is written exactly as it will be used. Refuses credentials, a query or a fragment, and a host
 * that means another than it shows (`0x7f.1`, full-width dots, `host#.example.com`). No fault quotes a credential.
 */
export function parseBaseUrl(text: string): BaseUrl | Fault {
  const expected = 'an address such as https://api.example.com/v1';
  const fault = (found: string, advice: string): Fault => ({ found, expected, advice });
  if (text.includes('@')) return fault('an address with @ in it', 'Put the credential into api_key.');
  if (/[?#]/.test(text)) return fault('an address with a query or fragment', 'Remove what begins at ? or #.');
  const [, authority] = /^https?:\/\/([^\s/\\\p{Cc}]+)(?:\/[^\s\\\p{Cc}]*)?$/u.exec(text) ?? [];
  const url = authority === undefined ? null : URL.parse(text);
  if (authority === undefined || url === null) {
    return fault('text that is not an http:// or https:// address', 'Write scheme, host and path.');
  }
  const defaultPort = url.protocol === 'https:' ? ':443' : ':80';
  const shown = authority.toLowerCase();
  if (shown !== url.host && shown !== url.host + defaultPort) {
    return fault(`another spelling of the host ${quoteText(url.host)}`, `Write ${url.host} if you mean it.`);
  }
  return { url: url.origin + url.pathname.replace(/\/+$/, ''), origin: url.origin };
}

/** Why a text does not fit, where the rule's own words are too general. Omitted members come from the rule. */
export class Unfit {
  readonly fault: Partial<Fault>;

  constructor(fault: Partial<Fault>) {
    this.fault = fault;
  }
}

interface ScalarRule<Value> {
  readonly expected: string;
  readonly advice: string;
  /** Members of the published JSON Schema. */
  readonly json: { readonly [member: string]: unknown };
  /** True: the value found is never shown. */
  readonly secret?: boolean;
  readonly parse: (text: string) => Value | Unfit;
}

/** In the published schema every value may be an expression instead. */
const EXPRESSION_PATTERN = '\\$\\{.+\\}';

/** A value made from text. Its issues carry `params: {found?, expected, advice, secret}`. */
function scalar<Value>(rule: ScalarRule<Value>) {
  return z
    .string({ error: () => rule.expected })
    .transform((text, context) => {
      const value = rule.parse(text);
      if (!(value instanceof Unfit)) return value;
      const { expected, advice, secret = false } = rule;
      context.addIssue({ code: 'custom', params: { expected, advice, secret, ...value.fault } });
      return z.NEVER;
    })
    .meta(rule.json);
}

const UNFIT = new Unfit({});
const hasControls = (text: string) => /\p{Cc}/u.test(text);

/** Any text without control characters, up to `charactersMax`. */
export const plainText = (expected: string, charactersMax: number) =>
  scalar({
    expected: `${expected} of 1 to ${charactersMax} characters, without control characters`,
    advice: 'Correct the text.',
    json: { title: 'text', type: 'string', minLength: 1, maxLength: charactersMax },
    parse: (text) => (text === '' || text.length > charactersMax || hasControls(text) ? UNFIT : text),
  });

export const modelName = plainText('a model name', 256);

/** A name of an entry of a list, without characters that a header or a label would escape. */
export const shortName = scalar({
  expected: 'a name of 1 to 64 letters, digits, ., _ or -, beginning with a letter or digit',
  advice: 'Choose another name.',
  json: {
    title: 'name',
    type: 'string',
    pattern: `^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$|${EXPRESSION_PATTERN}`,
  },
  parse: (text) => (/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(text) ? text : UNFIT),
});

/** A promise of a target about data. */
export const tag = scalar({
  expected: 'a tag of 1 to 32 lower-case letters, digits, ., _ or -, beginning with a letter or digit, such as eu',
  advice: 'Correct the tag.',
  json: { title: 'tag', type: 'string', pattern: `${DATA_TAG.source}|${EXPRESSION_PATTERN}` },
  parse: (text) => (DATA_TAG.test(text) ? text : UNFIT),
});

export const choice = <const Word extends string>(words: readonly Word[]) =>
  scalar<Word>({
    expected: words.length === 1 ? `${words[0]}` : `one of ${words.join(', ')}`,
    advice: 'Choose one of these.',
    json: { anyOf: [{ enum: words }, { type: 'string', pattern: EXPRESSION_PATTERN }] },
    parse: (text) => words.find((word) => word === text) ?? UNFIT,
  });

/** A whole number within bounds, both included. */
export const wholeNumber = (least: number, most: number = Number.MAX_SAFE_INTEGER) =>
  scalar({
    expected:
      most === Number.MAX_SAFE_INTEGER ? `a whole number from ${least} up` : `a whole number from ${least} to ${most}`,
    advice: 'Correct the number.',
    json: {
      title: 'number',
      type: ['integer', 'string'],
      minimum: least,
      maximum: most,
      pattern: `^\\d+$|${EXPRESSION_PATTERN}`,
    },
    parse: (text) => {
      const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
      return value >= least && value <= most ? value : UNFIT;
    },
  });

/** A duration in milliseconds, bounds included and written as in the file. */
export const duration = (least: string, most: string) =>
  scalar({
    expected: `a duration from ${least} to ${most}, such as 300ms, 60s, 15m or 1h`,
    advice: 'Write a whole number with its unit: ms, s, m, h or d.',
    json: { title: 'duration', type: 'string', pattern: `^\\d+(ms|s|m|h|d)$|${EXPRESSION_PATTERN}` },
    parse: (text) => withinBounds(text, parseDurationMs, least, most),
  });

/** A duration in whole days, such as `30d`, as a number of days; bounds included. */
export const wholeDays = (least: number, most: number) =>
  scalar({
    expected: `whole days from ${least}d to ${most}d, such as 30d`,
    advice: 'Write a whole number followed by d.',
    json: { title: 'days', type: 'string', pattern: `^\\d+d$|${EXPRESSION_PATTERN}` },
    parse: (text) => {
      const days = /^\d{1,6}d$/.test(text) ? Number(text.slice(0, -1)) : Number.NaN;
      return days >= least && days <= most ? days : UNFIT;
    },
  });

/** A number of bytes, bounds as in `duration`. */
export const byteSize = (least: string, most: string) =>
  scalar({
    expected: `a size from ${least} to ${most}, such as 64KiB or 32MiB`,
    advice: 'Write a whole number with its unit: B, KiB, MiB or GiB.',
    json: { title: 'size', type: 'string', pattern: `^\\d+(B|KiB|MiB|GiB|TiB)$|${EXPRESSION_PATTERN}` },
    parse: (text) => withinBounds(text, parseByteSize, least, most),
  });

function withinBounds(text: string, parse: (text: string) => number, least: string, most: string): number | Unfit {
  const value = parseOrUnfit(() => parse(text));
  return value instanceof Unfit || (value >= parse(least) && value <= parse(most)) ? value : UNFIT;
}

function parseOrUnfit<Value>(parse: () => Value): Value | Unfit {
  try {
    return parse();
  } catch (error) {
    if (error instanceof RangeError) return UNFIT;
    throw error;
  }
}

/** A credential, or null for the word `none`. */
export const credential = scalar<Secret | null>({
  expected: 'a credential of visible ASCII characters, or none',
  advice: 'Look for a line break, space or quote that was copied with it.',
  json: { title: 'credential', type: 'string', minLength: 1 },
  secret: true,
  parse: (text) => {
    if (text === 'none') return null;
    return /^[\x21-\x7e]{1,4096}$/.test(text) ? new Secret(text) : UNFIT;
  },
});

export const baseUrl = scalar<BaseUrl>({
  expected: 'an address such as https://api.example.com/v1',
  advice: 'Write scheme, host and path only.',
  json: { title: 'address', type: 'string', pattern: `^https?://[^?#@\\s]+$|${EXPRESSION_PATTERN}` },
  secret: true,
  parse: (text) => {
    const parsed = parseBaseUrl(text);
    return 'found' in parsed ? new Unfit(parsed) : parsed;
  },
});

/** An address range such as `10.0.0.0/8`, or one address. */
export const addressRange = scalar<IpRange>({
  expected: 'an address range such as 10.0.0.0/8 or fd00::/8 (no bits beyond the prefix), or one address',
  advice: 'Correct the range.',
  json: { title: 'address range', type: 'string', minLength: 2 },
  parse: (text) => parseOrUnfit(() => parseIpRange(text)),
});

export const listenHost = scalar({
  expected: 'an address or host name to listen on, such as 127.0.0.1 or 0.0.0.0',
  advice: 'Write it without scheme, port or path.',
  json: { title: 'host', type: 'string', minLength: 1 },
  parse: (text) => (isIP(text) !== 0 || /^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/.test(text) ? text : UNFIT),
});

/** A tier with a greater factor is a mistake. */
const MULTIPLIER_MAX = 1_000;

const decimal = (unit: string, json: { readonly title: string; readonly maximum: number }) =>
  scalar({
    expected: `${unit}: a number from 0 to ${json.maximum} with at most 6 decimals, such as 0.25`,
    advice: 'Correct the number.',
    json: {
      type: ['number', 'string'],
      minimum: 0,
      pattern: `^\\d{1,9}(\\.\\d{1,6})?$|${EXPRESSION_PATTERN}`,
      ...json,
    },
    parse: (text) => (/^\d{1,9}(\.\d{1,6})?$/.test(text) && Number(text) <= json.maximum ? text : UNFIT),
  });

/** USD per million tokens, as written. */
const priceText = decimal('USD per million tokens', { title: 'price', maximum: USD_PER_MILLION_MAX });

/** USD per 1,000 requests, as written. */
const feeText = decimal('USD per 1,000 requests', { title: 'fee', maximum: USD_PER_THOUSAND_MAX });

/** A factor of a price, as written. */
const multiplierText = decimal('a factor', { title: 'factor', maximum: MULTIPLIER_MAX });

/** A word for a tier, as used in requests and responses. */
const tierWord = z
  .string()
  .regex(TIER_WORD, 'a word for a tier: 1 to 40 letters, digits, _, . and -, such as priority');

/** The kind of a tool that runs upstream, as used in usage counts. */
const toolKind = z
  .string()
  .regex(
    TOOL_KIND,
    'a kind of tool as the provider counts it: 1 to 40 lower-case letters, digits and _, such as web_search',
  );

/** An amount of USD, as nano-USD. */
export const usdAmount = (usdMax: number) =>
  scalar<NanoUsd>({
    expected: `USD: a number from 0 to ${usdMax} with at most 6 decimals, such as 0.50`,
    advice: 'Correct the number.',
    json: {
      title: 'amount',
      type: ['number', 'string'],
      minimum: 0,
      maximum: usdMax,
      pattern: `^\\d{1,9}(\\.\\d{1,6})?$|${EXPRESSION_PATTERN}`,
    },
    parse: (text) => (/^\d{1,9}(\.\d{1,6})?$/.test(text) && Number(text) <= usdMax ? parseUsd(text, 'amount') : UNFIT),
  });

/** A day or an instant, as written. */
const instant = scalar({
  expected: 'a day such as 2026-12-01 (its first moment in UTC), or a moment such as 2026-12-01T08:00:00Z',
  advice: 'Correct the date.',
  json: { title: 'date', type: 'string', pattern: `^\\d{4}-\\d{2}-\\d{2}(T.+)?$|${EXPRESSION_PATTERN}` },
  parse: (text) => {
    const moment = parseOrUnfit(() => parseInstantMs(text));
    return moment instanceof Unfit ? moment : text;
  },
});

/** The id of a service, as used in URLs. */
export const oidcId = scalar({
  expected: '1 to 32 of a-z, 0-9 and -, beginning with a letter',
  advice: 'Choose another id.',
  json: { title: 'id', type: 'string', pattern: `^[a-z][a-z0-9-]{0,31}$|${EXPRESSION_PATTERN}` },
  parse: (text) => (/^[a-z][a-z0-9-]{0,31}$/.test(text) ? text : UNFIT),
});

/** A domain of email addresses. */
export const domainName = scalar({
  expected: 'a domain such as example.com',
  advice: 'Write the part of the addresses after the @.',
  json: { title: 'domain', type: 'string', minLength: 3 },
  parse: (text) => (/^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/.test(text) ? text : UNFIT),
});

const rate = (description: string) => priceText.meta({ description });

const rates = {
  input: rate('Input.'),
  output: rate('Output.'),
  cache_read: rate('Input read from a cache; default: as input.').optional(),
  cache_write: rate('Input written to a cache; default: as input.').optional(),
  cache_write_5m: rate('Written for five minutes; default: as cache_write.').optional(),
  cache_write_1h: rate('Written for an hour; default: as cache_write_5m.').optional(),
  reasoning: rate('Reasoning output; default: as output.').optional(),
  audio_input: rate('Audio in the input; default: as input.').optional(),
  audio_cache_read: rate('Audio read from a cache; default: as cache_read, else as audio_input.').optional(),
  audio_output: rate('Audio in the output; default: as output.').optional(),
  image_input: rate('Images in the input; default: as input.').optional(),
  image_output: rate('Images in the output; default: as output.').optional(),
};

const modifierWords = (description: string) => z.record(tierWord, multiplierText).meta({ description }).optional();

const tierSchema = z.strictObject({
  above: wholeNumber(1).meta({
    description: 'Input tokens including caches: a request with more has these prices as a whole.',
  }),
  ...rates,
});

const pricePeriodSchema = z.strictObject({
  ...rates,
  tiers: z
    .array(tierSchema)
    .min(1)
    .meta({ description: 'Other prices for long input, ascending; missing rates default within each tier.' })
    .optional(),
  per_1000_requests: z
    .record(toolKind, feeText)
    .meta({
      description:
        'USD per 1,000 requests of tools that the provider runs, by kind as the provider counts them: `web_search: 10`. A kind without a fee is not charged, and the record and the log say so.',
    })
    .optional(),
  modifiers: z
    .strictObject({
      service_tier: modifierWords('A service tier: `{ priority: 2, flex: 0.5 }`.'),
      speed: modifierWords('A speed: `{ fast: 2 }`.'),
      inference_geo: modifierWords('A place of inference: `{ us: 1.1 }`.'),
    })
    .meta({
      description:
        'Multipliers of all token rates for answers that state such a tier. If a balance or a budget pays, a request for a tier without one is refused.',
    })
    .optional(),
  from: instant
    .meta({
      description: 'Start of this price; before it, the previous price of the list applies, else the catalogue.',
    })
    .optional(),
});

/** A model's price: one, or a list of several with their start dates. */
export const priceSchema = z.union([choice(['free']), pricePeriodSchema, z.array(pricePeriodSchema).min(1)]).meta({
  description:
    'USD per million tokens, or the word `free`; or a list of such mappings, all but one with `from`. The price at the arrival of a request applies. Default: the catalogue.',
});

export type PriceShape = z.output<typeof priceSchema>;
export type PricePeriodShape = z.output<typeof pricePeriodSchema>;
