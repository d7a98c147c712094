/**
 * Defines the types of single values in the file: each parses its text, explains what does not fit, and describes
 * itself in the published schema. Knows no member by name.
 */
import { isIP } from 'node:net';
import { z } from 'zod';
import { type NanoUsd, parseUsd } from '../../billing/money.ts';
import { type IpRange, parseIpRange } from '../../lib/ip-range.ts';
import { parseByteSize, parseDurationMs } from '../../lib/quantity.ts';
import { Secret } from '../../lib/secret.ts';
import { parseDirectRule, parseProxyAddress } from '../../upstream/egress-proxy.ts';
import { DATA_TAG, SHORT_NAME } from '../config.ts';
import { type Fault, quoteText } from './config-problem.ts';
import { isMailAddress } from './mail-address.ts';

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
export const EXPRESSION_PATTERN = '\\$\\{.+\\}';

/** A value made from text. Its issues carry `params: {found?, expected, advice, secret}`. */
export function scalar<Value>(rule: ScalarRule<Value>) {
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

export const UNFIT = new Unfit({});
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

/** A name of an entry of a list. */
export const shortName = scalar({
  expected: 'a name of 1 to 64 letters, digits, ., _ or -, beginning with a letter or digit',
  advice: 'Choose another name.',
  json: {
    title: 'name',
    type: 'string',
    pattern: `${SHORT_NAME.source}|${EXPRESSION_PATTERN}`,
  },
  parse: (text) => (SHORT_NAME.test(text) ? text : UNFIT),
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

export function parseOrUnfit<Value>(parse: () => Value): Value | Unfit {
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

/** A word, a path or a text of several lines, which may be a credential. */
export const credentialText = scalar<Secret>({
  expected: 'a word, a path or a text of 1 to 32768 characters',
  advice: 'Correct it.',
  json: { title: 'text', type: 'string', minLength: 1 },
  secret: true,
  parse: (text) => (text.trim() === '' || text.length > 32_768 ? UNFIT : new Secret(text)),
});

/** The name of a header that may be configured (RFC 9110, 5.6.2). */
export const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/;
export const HEADER_VALUE = /^[\x21-\x7e](?:[\x20-\x7e]{0,4094}[\x21-\x7e])?$/;

export const headerName = z.string().regex(HEADER_NAME, 'the name of a header');

/** The value of a header with a credential. */
export const headerSecret = scalar<Secret>({
  expected: 'the value of a header: printable ASCII characters, no space at its ends',
  advice: 'Look for a line break or quote that was copied with it.',
  json: { title: 'header value', type: 'string', minLength: 1 },
  secret: true,
  parse: (text) => (HEADER_VALUE.test(text) ? new Secret(text) : UNFIT),
});

/** A number from 0 to 1. */
export const share = scalar({
  expected: 'a number from 0 to 1, such as 0.1',
  advice: 'Correct the number.',
  json: {
    title: 'share',
    type: ['number', 'string'],
    minimum: 0,
    maximum: 1,
    pattern: `^[\\d.]+$|${EXPRESSION_PATTERN}`,
  },
  parse: (text) => {
    const value = /^(?:\d+\.?\d*|\.\d+)$/.test(text) ? Number(text) : Number.NaN;
    return value >= 0 && value <= 1 ? value : UNFIT;
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

/** The address of a proxy, without credentials. */
export const proxyUrl = scalar({
  expected: 'an address such as http://proxy.example:3128',
  advice: 'Write http://, host and port; put credentials into `credentials`.',
  json: { title: 'address', type: 'string', pattern: `^http://[^/?#@\\s]+/?$|${EXPRESSION_PATTERN}` },
  secret: true,
  parse: (text) => (/^http:\/\/[^@]+$/i.test(text) ? (parseProxyAddress(text) ?? UNFIT) : UNFIT),
});

/** A host that is connected to without the proxy. */
export const directHost = scalar({
  expected: 'a host such as example.com, .example.com, 10.0.0.0/8, example.com:8443 or *',
  advice: 'Correct the entry.',
  json: { title: 'host', type: 'string', minLength: 1 },
  parse: (text) => parseDirectRule(text) ?? UNFIT,
});

export const listenHost = scalar({
  expected: 'an address or host name to listen on, such as 127.0.0.1 or 0.0.0.0',
  advice: 'Write it without scheme, port or path.',
  json: { title: 'host', type: 'string', minLength: 1 },
  parse: (text) => (isHost(text) ? text : UNFIT),
});

export const listenPort = wholeNumber(0, 65_535);

export const mailHost = scalar({
  expected: 'an address or host name such as smtp.example.com',
  advice: 'Write it without scheme or port.',
  json: { title: 'host', type: 'string', minLength: 1 },
  parse: (text) => (isHost(text) ? text : UNFIT),
});

function isHost(text: string): boolean {
  return isIP(text) !== 0 || /^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/.test(text);
}

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

/** The id of a service, as used in URLs. */
export const oidcId = scalar({
  expected: '1 to 32 of a-z, 0-9 and -, beginning with a letter',
  advice: 'Choose another id.',
  json: { title: 'id', type: 'string', pattern: `^[a-z][a-z0-9-]{0,31}$|${EXPRESSION_PATTERN}` },
  parse: (text) => (/^[a-z][a-z0-9-]{0,31}$/.test(text) ? text : UNFIT),
});

export const mailAddress = scalar({
  expected: 'an email address such as tollgate@example.com',
  advice: 'Write the address only, without a name.',
  json: { title: 'email address', type: 'string', pattern: `^[^@\\s]+@[^@\\s]+$|${EXPRESSION_PATTERN}` },
  parse: (text) => (isMailAddress(text) ? text : UNFIT),
});

/** A domain of email addresses. */
export const domainName = scalar({
  expected: 'a domain such as example.com',
  advice: 'Write the part of the addresses after the @.',
  json: { title: 'domain', type: 'string', minLength: 3 },
  parse: (text) => (/^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/.test(text) ? text : UNFIT),
});
