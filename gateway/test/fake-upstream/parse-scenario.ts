/** Validates a scenario that arrives over HTTP. Every error names the member, the value and what was expected. */
import { isObject } from './answer/body-part.ts';
import type { Scenario, SlowReading } from './scenario.ts';

type Check = (value: unknown) => string | null;

const count: Check = (value) => (Number.isSafeInteger(value) && Number(value) >= 0 ? null : 'an integer of at least 0');
const countFromOne: Check = (value) =>
  Number.isSafeInteger(value) && Number(value) >= 1 ? null : 'an integer of at least 1';
const text: Check = (value) => (typeof value === 'string' ? null : 'a string');
const flag: Check = (value) => (typeof value === 'boolean' ? null : 'true or false');
const status: Check = (value) =>
  Number.isInteger(value) && Number(value) >= 200 && Number(value) <= 999 ? null : 'a final status, 200 to 999';

const oneOf =
  (...words: readonly string[]): Check =>
  (value) =>
    typeof value === 'string' && words.includes(value) ? null : `one of ${words.join(', ')}`;

const headerMap: Check = (value) =>
  isObject(value) && Object.values(value).every((entry) => entry === null || typeof entry === 'string')
    ? null
    : 'an object of strings (null removes a header)';

const records: Check = (value) =>
  Array.isArray(value) && value.every((entry) => typeof entry === 'string') ? null : 'an array of strings';

const cut: Check = (value) =>
  isObject(value) &&
  (count(value.at) === null || oneOf('before-headers', 'in-headers')(value.at) === null) &&
  oneOf('fin', 'rst', 'stall')(value.how) === null
    ? null
    : '{at: <byte> | "before-headers" | "in-headers", how: "fin" | "rst" | "stall"}';

const chunking: Check = (value) => {
  if (oneOf('record', 'bytes', 'all', 'utf8', 'crlf')(value) === null) return null;
  const sizes = isObject(value) ? value.sizes : null;
  return Array.isArray(sizes) && sizes.length > 0 && sizes.every((size) => countFromOne(size) === null)
    ? null
    : 'record, bytes, all, utf8, crlf or {sizes: [<bytes>, …]}';
};

const informational: Check = (value) =>
  Array.isArray(value) &&
  value.every(
    (entry) =>
      isObject(entry) &&
      Number.isInteger(entry.status) &&
      Number(entry.status) >= 100 &&
      Number(entry.status) <= 199 &&
      (entry.headers === undefined || headerMap(entry.headers) === null),
  )
    ? null
    : 'an array of {status: 100 to 199, headers?}';

const say: Check = (value) =>
  isObject(value) &&
  Object.entries(value).every(([member, found]) => {
    if (member === 'reasoning' || member === 'text') return typeof found === 'string';
    if (member === 'cacheReadTokens') return count(found) === null;
    return member === 'calls' && Array.isArray(found) && found.every(isCall);
  })
    ? null
    : '{reasoning?, text?, calls?: [{id: "call_…", name, input: {…}, custom?}], cacheReadTokens?}';

function isCall(value: unknown): boolean {
  return (
    isObject(value) &&
    typeof value.id === 'string' &&
    value.id.startsWith('call_') &&
    typeof value.name === 'string' &&
    isObject(value.input) &&
    (value.custom === undefined || (value.custom === true && typeof value.input.input === 'string'))
  );
}

const CHECKS: { readonly [Member in keyof Required<Scenario>]: Check } = {
  answer: text,
  status,
  headers: headerMap,
  body: text,
  bodyBase64: text,
  json: () => null,
  records,
  echo: flag,
  say,
  hollow: flag,
  errorBodyBytes: count,
  delayBeforeFirstByteMs: count,
  delayAfterHeadMs: count,
  delayBetweenEventsMs: count,
  stallAfterEvent: count,
  holdAfterEvent: countFromOne,
  cut,
  malformedEvent: countFromOne,
  errorEvent: countFromOne,
  omitUsage: flag,
  omitEnd: flag,
  framing: oneOf('chunked', 'content-length', 'close'),
  chunking,
  gapMs: count,
  informational,
  rawHead: text,
  extraBytes: text,
  bothLengths: flag,
  headerBlockBytes: count,
  headerLines: count,
  dropIdleConnectionAfterMs: count,
  closeAfterResponses: countFromOne,
  resetAtNextRequest: flag,
};

const BODY_SOURCES = [
  'answer',
  'body',
  'bodyBase64',
  'json',
  'records',
  'echo',
  'say',
  'hollow',
  'errorBodyBytes',
] as const;

function isScenario(value: Record<string, unknown>): value is Record<string, unknown> & Scenario {
  return complaint(value) === null;
}

function complaint(value: Record<string, unknown>): string | null {
  const known = new Map<string, Check>(Object.entries(CHECKS));
  for (const [member, found] of Object.entries(value)) {
    const check = known.get(member);
    if (check === undefined) return `scenario.${member} is not known; the members are ${[...known.keys()].join(', ')}`;
    const expected = check(found);
    if (expected !== null) return `scenario.${member} is ${JSON.stringify(found)}, expected ${expected}`;
  }
  const sources = BODY_SOURCES.filter((member) => value[member] !== undefined && value[member] !== false);
  if (sources.length > 1) return `scenario has ${sources.join(' and ')}; a body comes from one of them, give only one`;
  return null;
}

/** Parses one scenario. @throws Error that names the invalid member. */
export function parseScenario(value: unknown): Scenario {
  if (!isObject(value)) throw new Error(`scenario is ${JSON.stringify(value)}, expected an object`);
  if (!isScenario(value)) throw new Error(complaint(value) ?? 'scenario is not valid');
  return value;
}

/** Parses `{bytes, pauseMs}`, or null to read at full speed again. @throws Error that names the invalid member. */
export function parseSlowReading(value: unknown): SlowReading | null {
  if (value === null) return null;
  if (!isObject(value)) throw new Error(`reading is ${JSON.stringify(value)}, expected {bytes, pauseMs} or null`);
  const { bytes, pauseMs } = value;
  if (typeof bytes !== 'number' || countFromOne(bytes) !== null) {
    throw new Error(`reading.bytes is ${JSON.stringify(bytes)}, expected an integer of at least 1`);
  }
  if (typeof pauseMs !== 'number' || count(pauseMs) !== null) {
    throw new Error(`reading.pauseMs is ${JSON.stringify(pauseMs)}, expected an integer of at least 0`);
  }
  return { bytes, pauseMs };
}
