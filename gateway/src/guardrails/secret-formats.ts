/**
 * Finds secrets by the forms that their issuers document: a prefix, then characters of one class. Written as data,
 * because what finds secrets in files elsewhere cannot tell where a match may still begin (decision 0052).
 */
import { type DetectorName, labelOf } from './detectors.ts';
import {
  type CharClass,
  charClass,
  isAfterEscape,
  isIn,
  MATCH_LENGTH_MAX,
  type Match,
  type Matcher,
  notAfter,
  runEnd,
  tailStart,
} from './matcher.ts';

interface SecretFormat {
  readonly detector: DetectorName;
  readonly prefixes: readonly string[];
  /** The class of the characters after the prefix. */
  readonly body: RegExp;
  /** How many there are. `max` absent: as many as there may be, up to the longest match. */
  readonly min: number;
  readonly max?: number;
  /** It does not begin within a longer run of its body's characters, where every prefix would be tried. Absent: it may. */
  readonly isWhole?: true;
  /** How the prefix and the run after it begin; bounded. */
  readonly shape?: RegExp;
  /** The class of the characters at the end of the run that do not belong to it. */
  readonly trim?: RegExp;
}

/** Each row with the page that says so, as read on 2026-11-28. */
const FORMATS: readonly SecretFormat[] = [
  // https://platform.openai.com/docs/api-reference/authentication, https://docs.anthropic.com/en/api/overview,
  // https://openrouter.ai/docs/api-reference/authentication, https://console.groq.com/docs/quickstart,
  // https://docs.x.ai/docs/tutorial, https://docs.perplexity.ai/getting-started/quickstart
  { detector: 'model_provider_key', prefixes: ['sk-', 'gsk_', 'xai-', 'pplx-'], body: /[A-Za-z0-9_-]/, min: 20 },
  // https://huggingface.co/docs/hub/security-tokens, https://replicate.com/docs/topics/security/api-tokens
  { detector: 'model_provider_key', prefixes: ['hf_', 'r8_'], body: /[A-Za-z0-9]/, min: 30, max: 60 },
  // identity/key-format.ts
  { detector: 'tollgate_key', prefixes: ['tg_'], body: /[A-Za-z0-9_]/, min: 43, max: 49, isWhole: true },
  // https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html
  { detector: 'aws_access_key', prefixes: ['AKIA', 'ASIA'], body: /[A-Z0-9]/, min: 16, max: 16 },
  // https://cloud.google.com/docs/authentication/api-keys, https://developers.google.com/identity/protocols/oauth2
  { detector: 'google_key', prefixes: ['AIza'], body: /[A-Za-z0-9_-]/, min: 35, max: 35 },
  { detector: 'google_key', prefixes: ['GOCSPX-'], body: /[A-Za-z0-9_-]/, min: 28, max: 28 },
  { detector: 'google_key', prefixes: ['ya29.'], body: /[A-Za-z0-9_.-]/, min: 30, trim: /\./ },
  // https://learn.microsoft.com/azure/storage/common/storage-configure-connection-string
  { detector: 'azure_storage_key', prefixes: ['AccountKey='], body: /[A-Za-z0-9+/=]/, min: 88, max: 88 },
  // https://github.blog/engineering/behind-githubs-new-authentication-token-formats/
  {
    detector: 'github_token',
    prefixes: ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'],
    body: /[A-Za-z0-9]/,
    min: 36,
    max: 255,
  },
  { detector: 'github_token', prefixes: ['github_pat_'], body: /[A-Za-z0-9_]/, min: 80, max: 255 },
  // https://docs.gitlab.com/security/tokens/#token-prefixes
  {
    detector: 'gitlab_token',
    prefixes: ['glpat-', 'gldt-', 'glrt-', 'glptt-', 'glcbt-', 'gloas-'],
    body: /[A-Za-z0-9_.-]/,
    min: 20,
    max: 300,
    isWhole: true,
    trim: /\./,
  },
  // https://docs.slack.dev/authentication/tokens, https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks
  {
    detector: 'slack_token',
    prefixes: ['xoxb-', 'xoxp-', 'xoxa-', 'xoxr-', 'xoxs-', 'xoxe-', 'xoxe.', 'xapp-'],
    body: /[A-Za-z0-9.-]/,
    min: 20,
    max: 400,
    isWhole: true,
    trim: /[.-]/,
  },
  { detector: 'slack_token', prefixes: ['hooks.slack.com/services/'], body: /[A-Za-z0-9/]/, min: 30, max: 100 },
  // https://docs.stripe.com/keys, https://docs.stripe.com/webhooks
  {
    detector: 'stripe_key',
    prefixes: ['sk_live_', 'sk_test_', 'rk_live_', 'rk_test_', 'whsec_'],
    body: /[A-Za-z0-9]/,
    min: 20,
    max: 255,
  },
  // https://github.blog/changelog/2021-09-23-npm-has-a-new-access-token-format/, https://pypi.org/help/#apitoken
  { detector: 'package_token', prefixes: ['npm_'], body: /[A-Za-z0-9]/, min: 36, max: 36 },
  { detector: 'package_token', prefixes: ['pypi-'], body: /[A-Za-z0-9_-]/, min: 50 },
  // https://www.twilio.com/docs/sendgrid/ui/account-and-settings/api-keys
  {
    detector: 'sendgrid_key',
    prefixes: ['SG.'],
    body: /[A-Za-z0-9_.-]/,
    min: 60,
    max: 80,
    isWhole: true,
    shape: /^SG\.[\w-]{16,32}\.[\w-]{32,64}/,
    trim: /\./,
  },
  // https://www.rfc-editor.org/rfc/rfc7519
  {
    detector: 'jwt',
    prefixes: ['eyJ'],
    body: /[A-Za-z0-9_.-]/,
    min: 30,
    isWhole: true,
    shape: /^eyJ[\w-]{5,512}\.eyJ[\w-]{5,4096}/,
    trim: /\./,
  },
  // https://www.rfc-editor.org/rfc/rfc3986#section-3.2.1
  {
    detector: 'database_password',
    prefixes: ['postgres://', 'postgresql://', 'mysql://', 'mongodb://', 'mongodb+srv://', 'redis://', 'amqp://'],
    body: /[!-~](?<!["'<>`\\/])/,
    min: 4,
    max: 512,
    shape: /^[a-z+]{5,12}:\/\/[^:@/\s]{0,256}:[^@/\s]{1,512}@/,
    trim: /[^@]/,
  },
];

const WORD = charClass(/[A-Za-z0-9]/);
const BASE64_LINES = charClass(/[A-Za-z0-9+/=\s\\,:-]/);
const BEGIN_KEY = '-----BEGIN ';
/** https://www.rfc-editor.org/rfc/rfc7468 */
const KEY_HEADER = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/y;
const KEY_FOOTER = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/;
/** The longest header: its label may be 40 characters long. */
const KEY_HEADER_LENGTH_MAX = BEGIN_KEY.length + 40 + 'PRIVATE KEY BLOCK-----'.length;
/** A header that fewer characters follow is only spoken of. */
const KEY_LENGTH_MIN = 16;

type CompiledFormat = Omit<SecretFormat, 'body' | 'trim'> & { readonly body: CharClass; readonly trim: CharClass };

/** `end` -1: no secret. `isOpen`: further text may change that. */
interface Tried {
  readonly end: number;
  readonly isTooLong: boolean;
  readonly isOpen: boolean;
}

const NO_SECRET: Tried = { end: -1, isTooLong: false, isOpen: false };
const OPEN: Tried = { end: -1, isTooLong: false, isOpen: true };

export class SecretMatcher implements Matcher {
  readonly #formats: readonly CompiledFormat[];
  readonly #prefixes: readonly string[];
  readonly #search: RegExp;
  readonly #prefixLengthMax: number;

  /** `detectors`: at least one. */
  constructor(detectors: ReadonlySet<DetectorName>) {
    this.#formats = FORMATS.filter(({ detector }) => detectors.has(detector)).map((format) => ({
      ...format,
      body: charClass(format.body),
      trim: charClass(format.trim ?? /(?!)/),
    }));
    const prefixes = this.#formats.flatMap((format) => format.prefixes);
    this.#prefixes = detectors.has('private_key') ? [...prefixes, BEGIN_KEY] : prefixes;
    this.#prefixLengthMax = Math.max(...this.#prefixes.map(({ length }) => length));
    // A longer prefix comes before one that it begins with.
    const ordered = this.#prefixes.toSorted((a, b) => b.length - a.length).map((one) => RegExp.escape(one));
    this.#search = new RegExp(`${notAfter(/[A-Za-z0-9]/)}(?:${ordered.join('|')})`, 'g');
  }

  find(text: string, from: number, found: Match[]): void {
    this.#each(text, from, (start, { end, isTooLong }, name) => {
      if (end !== -1) found.push({ start, end, name, label: labelOf(name), isTooLong });
      return false;
    });
  }

  openFrom(text: string, from: number): number {
    let open = this.#openPrefix(text, from);
    this.#each(text, from, (start, { isOpen }) => {
      if (isOpen) open = Math.min(open, start);
      return isOpen;
    });
    return open;
  }

  /** The start of a prefix that the text ends within. */
  #openPrefix(text: string, from: number): number {
    const { length } = text;
    for (let start = Math.max(from, length - this.#prefixLengthMax + 1); start < length; start++) {
      if (start > 0 && isIn(WORD, text.charCodeAt(start - 1)) && !isAfterEscape(text, start)) continue;
      const tail = text.slice(start);
      if (this.#prefixes.some((prefix) => prefix.startsWith(tail))) return start;
    }
    return length;
  }

  /** Visits each place where a secret may begin, past those that are one, until `visit` returns true. */
  #each(text: string, from: number, visit: (start: number, tried: Tried, name: DetectorName) => boolean): void {
    const search = this.#search;
    search.lastIndex = from;
    for (let at = search.exec(text); at !== null; at = search.exec(text)) {
      const start = at.index;
      const { tried, name } = this.#tryAll(text, start, at[0]);
      if (visit(start, tried, name)) return;
      search.lastIndex = tried.end === -1 ? start + 1 : tried.end;
    }
  }

  #tryAll(text: string, start: number, prefix: string): { readonly tried: Tried; readonly name: DetectorName } {
    if (prefix === BEGIN_KEY) return { tried: tryPrivateKey(text, start), name: 'private_key' };
    const format = this.#formats.find(({ prefixes }) => prefixes.includes(prefix)) as CompiledFormat;
    return { tried: tryFormat(text, start, start + prefix.length, format), name: format.detector };
  }
}

function tryFormat(text: string, start: number, bodyStart: number, format: CompiledFormat): Tried {
  const { body, min, max, isWhole, shape, trim } = format;
  if (isWhole && start > 0 && isIn(body, text.charCodeAt(start - 1)) && !isAfterEscape(text, start)) return NO_SECRET;
  const most = max ?? MATCH_LENGTH_MAX - (bodyStart - start);
  const end = runEnd(text, bodyStart, body, most + 1);
  const length = end - bodyStart;
  const isOpen = end === text.length && length <= most;
  const refused = isOpen ? OPEN : NO_SECRET;
  if (length < min || (length > most && max !== undefined)) return refused;
  if (shape !== undefined && !shape.test(text.slice(start, end))) return refused;
  if (length > most) return { end, isTooLong: true, isOpen: false };
  const keptEnd = tailStart(text, bodyStart, end, trim);
  return keptEnd - bodyStart < min ? refused : { end: keptEnd, isTooLong: false, isOpen };
}

/** A key without its footer was cut: it is one up to where its text ends. */
function tryPrivateKey(text: string, start: number): Tried {
  KEY_HEADER.lastIndex = start;
  const header = KEY_HEADER.exec(text);
  if (header === null) return text.length - start < KEY_HEADER_LENGTH_MAX ? OPEN : NO_SECRET;
  const bodyStart = start + header[0].length;
  const end = runEnd(text, bodyStart, BASE64_LINES, MATCH_LENGTH_MAX + 1);
  const footer = KEY_FOOTER.exec(text.slice(bodyStart, end));
  if (footer !== null) {
    const footerEnd = bodyStart + footer.index + footer[0].length;
    return { end: footerEnd, isTooLong: footerEnd - start > MATCH_LENGTH_MAX, isOpen: false };
  }
  if (end - start > MATCH_LENGTH_MAX) return { end, isTooLong: true, isOpen: false };
  const isOpen = end === text.length;
  if (end - bodyStart < KEY_LENGTH_MIN) return isOpen ? OPEN : NO_SECRET;
  return { end, isTooLong: false, isOpen };
}
