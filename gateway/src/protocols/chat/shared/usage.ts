/**
 * Parses a chat-completions `usage` object into canonical counters and flags its anomalies; renders the counters back.
 * Reads the facts of a non-streamed answer. Source: wire reference A.8, C.7 and its table of providers.
 */
import {
  extrasOf,
  isTextCounted,
  type MediaAndToolUsage,
  NO_FLAGS,
  type ReportedUsage,
  readTierWords,
  type TierWords,
  type Usage,
  withExtras,
} from '../../../generation/usage.ts';
import {
  asArray,
  asCount,
  asName,
  asObject,
  asText,
  countOrZero,
  type JsonObject,
  readRequests,
  readServerToolUse,
  type ToolRequests,
  textBytes,
} from '../../json.ts';
import type { AnswerFacts, AnswerReading, StoredObject } from '../../upstream-protocol.ts';

/** Cache reads without `prompt_tokens_details`: DeepSeek, Moonshot, Mistral (recorded traffic, November 2026). */
const CACHE_READ_ELSEWHERE = ['prompt_cache_hit_tokens', 'cached_tokens', 'num_cached_tokens'];

/**
 * Null if a main counter is missing, negative or not an integer: then the usage is invalid. Invalid details count as
 * absent. `prompt_tokens` includes cache reads and writes; `input` excludes them.
 */
export function readUsage(value: unknown): ReportedUsage | null {
  const usage = asObject(value);
  if (usage === null) return null;
  const prompt = asCount(usage.prompt_tokens);
  const completion = asCount(usage.completion_tokens);
  if (typeof prompt !== 'number' || typeof completion !== 'number') return null;
  const details = asObject(usage.prompt_tokens_details);
  const read =
    countOrZero(details?.cached_tokens) ||
    CACHE_READ_ELSEWHERE.reduce((found, name) => found || countOrZero(usage[name]), 0);
  // Alibaba's name for it (provider reference, G).
  const written = countOrZero(details?.cache_write_tokens) || countOrZero(details?.cache_creation_input_tokens);
  const cache_read = Math.min(read, prompt);
  const cache_write_5m = Math.min(written, prompt - cache_read);
  const generated = asObject(usage.completion_tokens_details);
  const audio = countOrZero(details?.audio_tokens);
  const total = asCount(usage.total_tokens);
  const beside = typeof total === 'number' ? total - prompt - completion : null;
  // Google's chat endpoint names thoughts nowhere but in the total (recorded traffic, 2025).
  const isUnnamed = generated === null && audio === 0 && beside !== null && beside > 0;
  // Perplexity's deep research, which alone reports citations, counts its reasoning beside the answer and the total.
  const deepReasoning = usage.citation_tokens === undefined ? 0 : countOrZero(usage.reasoning_tokens);
  const reasoning = isUnnamed ? beside : countOrZero(generated?.reasoning_tokens) || deepReasoning;
  // Some providers exclude reasoning from `completion_tokens` and show it only in the total (seen at xAI, 2025-2026).
  const isApart = beside === reasoning || beside === reasoning + audio;
  // DeepInfra, which alone reports a cost by this name, leaves the thoughts of Google's models out of the total too.
  const isInNeither =
    beside === 0 && (typeof usage.estimated_cost === 'number' ? reasoning > completion : deepReasoning > 0);
  const extras = isInNeither || (beside !== 0 && reasoning > 0 && (isApart || reasoning > completion));
  // Mistral excludes audio tokens from `prompt_tokens` (recorded traffic, 2026).
  const audioInput = audio > 0 && beside === audio + (extras ? reasoning : 0) ? audio : 0;
  let flags = NO_FLAGS;
  if (beside !== null && beside !== 0 && (!isApart || isUnnamed) && audioInput === 0) flags = [...flags, 'sum'];
  if (read + written > prompt) flags = [...flags, 'cached'];
  if (reasoning > completion && !isInNeither && (beside === 0 || !isApart)) flags = [...flags, 'reasoning'];
  const counters: Inside = {
    input: prompt - cache_read - cache_write_5m + audioInput,
    cache_read,
    cache_write_5m,
    cache_write_1h: 0,
    output: extras ? completion + reasoning : completion,
    // A provider whose total includes reasoning may still report more reasoning than output (seen at OpenRouter).
    reasoning: extras ? reasoning : Math.min(reasoning, completion),
  };
  return { usage: withExtras(counters, readUsageApart(usage, counters)), flags };
}

/** The usage in an answer or a chunk; Groq puts it into a member of its own. */
export function readReportedUsage(body: JsonObject): ReportedUsage | null {
  const reported = readUsage(body.usage) ?? readUsage(asObject(body.x_groq)?.usage);
  return reported === null ? null : withTier(reported, readTier(body));
}

/** The tier members of an answer or a chunk, including standard values; some providers put them into `usage`. */
export function readTier(body: JsonObject): TierWords | undefined {
  return readTierWords(body) ?? readTierWords(asObject(body.usage) ?? {});
}

/** The usage with the tier added if it is a special one. */
export function withTier({ usage, flags }: ReportedUsage, stated: TierWords | undefined): ReportedUsage {
  return { usage: withExtras(usage, usage.extras, stated), flags };
}

/** The counters that include audio and images. */
type Inside = Omit<Usage, 'extras'>;

/** Perplexity's search context sizes (recorded traffic, 2025): its fee is per request and size. */
const SEARCH_CLASSES: ReadonlySet<string> = new Set(['low', 'medium', 'high']);

/**
 * Undefined: no media and no tools. Parts never exceed their whole: any excess that a provider claims is ignored. If a
 * provider does not say which tokens came from its cache, text counts as cached first.
 */
function readUsageApart(usage: JsonObject, inside: Inside): MediaAndToolUsage | undefined {
  const prompt = asObject(usage.prompt_tokens_details);
  const completion = asObject(usage.completion_tokens_details);
  const audioInput = countOrZero(prompt?.audio_tokens);
  const cached = countOrZero(asObject(prompt?.cached_tokens_details)?.audio_tokens);
  const audio_input = Math.min(Math.max(0, audioInput - cached), inside.input);
  const spoken = Math.min(countOrZero(completion?.audio_tokens), inside.output - inside.reasoning);
  return extrasOf(
    {
      audio_input,
      audio_cache_read: Math.min(audioInput - audio_input, inside.cache_read),
      audio_output: spoken,
      image_input: Math.min(countOrZero(prompt?.image_tokens), inside.input - audio_input),
      image_output: Math.min(countOrZero(completion?.image_tokens), inside.output - inside.reasoning - spoken),
    },
    readTools(usage),
  );
}

/**
 * OpenRouter uses the messages format's members. Perplexity counts searches if it charges for each, else names the
 * search context size of the request. xAI counts the sources that its search used.
 */
function readTools(usage: JsonObject): readonly ToolRequests[] {
  const tools = [...readServerToolUse(usage.server_tool_use)];
  const searches = readRequests(usage.num_search_queries);
  const searchClass = asText(usage.search_context_size);
  if (searches !== null) tools.push(['web_search', searches]);
  else if (searchClass !== null && SEARCH_CLASSES.has(searchClass)) tools.push([`search_${searchClass}`, 1]);
  const sources = readRequests(usage.num_sources_used);
  if (sources !== null) tools.push(['search_source', sources]);
  return tools;
}

interface ChatUsage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
  readonly prompt_tokens_details: {
    readonly cached_tokens: number;
    readonly cache_write_tokens: number;
    readonly [media: string]: number;
  };
  readonly completion_tokens_details: { readonly reasoning_tokens: number; readonly [media: string]: number };
  readonly [member: string]: number | { readonly [member: string]: number };
}

/**
 * Converts disjoint counters to the inclusive ones of wire reference A.8 and C.7: `prompt_tokens` includes cache reads
 * and writes. Audio and image counters appear only if nonzero; the format has no member for server-side tools.
 */
export function renderUsage(usage: Usage): ChatUsage {
  const cache_write_tokens = usage.cache_write_5m + usage.cache_write_1h;
  const { extras } = usage;
  const prompt_tokens = usage.input + usage.cache_read + cache_write_tokens;
  return {
    prompt_tokens,
    completion_tokens: usage.output,
    total_tokens: prompt_tokens + usage.output,
    prompt_tokens_details: {
      cached_tokens: usage.cache_read,
      cache_write_tokens,
      ...renderMedia((extras?.audio_input ?? 0) + (extras?.audio_cache_read ?? 0), extras?.image_input ?? 0),
    },
    completion_tokens_details: {
      reasoning_tokens: usage.reasoning,
      ...renderMedia(extras?.audio_output ?? 0, extras?.image_output ?? 0),
    },
  };
}

function renderMedia(audio_tokens: number, image_tokens: number): { readonly [member: string]: number } {
  return { ...(audio_tokens > 0 && { audio_tokens }), ...(image_tokens > 0 && { image_tokens }) };
}

/** `answer` is the parsed body of a 200, `bodyBytes` its length. Some providers send errors with status 200. */
export function readAnswer(answer: unknown, bodyBytes: number): AnswerReading {
  const body = asObject(answer);
  if (body === null) return { kind: 'malformed', message: 'the answer is not a JSON object' };
  const choices = asArray(body.choices);
  const facts = factsOf(body, choices, bodyBytes);
  const error = Array.isArray(body.choices) ? null : body.error;
  const failed = minimaxError(body) ?? error ?? null;
  if (failed !== null) {
    const reported = { type: typeOf(failed), status: statusOf(failed), message: messageOf(failed) };
    return { kind: 'error', ...reported, facts: billed(facts) };
  }
  if (choices.length === 0) return { kind: 'malformed', message: 'the answer has no choices', facts: billed(facts) };
  return { kind: 'answer', facts };
}

/** The facts if they have usage, which upstream will bill; else undefined. */
function billed(facts: AnswerFacts): AnswerFacts | undefined {
  return facts.usage === null ? undefined : facts;
}

function factsOf(body: JsonObject, choices: readonly unknown[], bodyBytes: number): AnswerFacts {
  const reported = readReportedUsage(body);
  const usage = reported?.usage ?? null;
  const isCounted = isTextCounted(usage, bodyBytes);
  return {
    usage,
    usageFlags: reported?.flags ?? NO_FLAGS,
    usageSoFar: usage,
    finish_reason: asName(asObject(choices[0])?.finish_reason),
    model: asName(body.model),
    tier: readTier(body),
    outputBytes: isCounted ? sum(choices, generatedBytes) : 0,
    reasoningBytes: isCounted ? sum(choices, reasoningBytes) : 0,
    outputBytesMax: bodyBytes,
    stored: audioIn(choices),
  };
}

/** UTF-8 bytes of generated text in a message or delta: content, reasoning, refusals, names and arguments of calls. */
export function generatedBytes(part: JsonObject | null): number {
  if (part === null) return 0;
  const calls = asArray(part.tool_calls).map((call) => asObject(call));
  return textBytes([
    part.content,
    thoughtIn(part),
    part.refusal,
    part.function_call,
    calls.map((call) => [call?.function, call?.custom]),
  ]);
}

/**
 * Several providers send the same text in two members; one may be empty. Snowflake sends only `reasoning_details`
 * (recorded traffic, July 2026).
 */
function thoughtIn({ reasoning_content, reasoning, reasoning_details }: JsonObject): unknown {
  const said = [reasoning_content, reasoning].find((one) => one !== undefined && one !== null && one !== '');
  if (said !== undefined || !Array.isArray(reasoning_details)) return said;
  return reasoning_details.map((detail) => asObject(detail)?.text ?? asObject(detail)?.summary);
}

/** The pieces of a `content` list that are reasoning: Mistral's, Databricks'. */
const THOUGHTS: ReadonlySet<unknown> = new Set(['thinking', 'reasoning']);

/** The part of `generatedBytes` that is reasoning. */
export function reasoningBytes(part: JsonObject | null): number {
  if (part === null) return 0;
  const { content } = part;
  const thought = thoughtIn(part);
  const bytes = thought === undefined ? 0 : textBytes(thought);
  // Mistral's reasoning models put reasoning into pieces of `content`.
  return Array.isArray(content) ? bytes + textBytes(content.filter((one) => THOUGHTS.has(asObject(one)?.type))) : bytes;
}

function sum(choices: readonly unknown[], bytesOf: (message: JsonObject | null) => number): number {
  return choices.reduce<number>((total, choice) => total + bytesOf(asObject(asObject(choice)?.message)), 0);
}

/**
 * MiniMax's failures under status 200, by `base_resp.status_code`, with the status that they stand for; others are
 * faults. Sources: https://platform.minimax.io/docs/api-reference/errorcode and the vendor's command line (2026-11-23).
 */
const MINIMAX_STATUSES: ReadonlyMap<number, number> = new Map([
  [1001, 504],
  [1002, 429],
  [1004, 401],
  [1008, 402],
  [1026, 400],
  [1027, 400],
  [1028, 402],
  [1030, 402],
  [1039, 429],
  [1041, 429],
  [1042, 400],
  [2013, 400],
  [2045, 429],
  [2049, 401],
  [2056, 402],
  [2061, 403],
]);

/** The error of a body with `base_resp` as an error object; null: it has none. */
export function minimaxError({ base_resp }: JsonObject): JsonObject | null {
  const code = asObject(base_resp)?.status_code;
  if (typeof code !== 'number' || code === 0) return null;
  return {
    status: MINIMAX_STATUSES.get(code) ?? 500,
    code: `minimax_${code}`,
    message: asObject(base_resp)?.status_msg,
  };
}

/** The HTTP status that an error object names as a number; null: none. */
export function statusOf(error: unknown): number | null {
  const named = asObject(error);
  for (const member of ['status', 'status_code', 'code']) {
    const value = named?.[member];
    if (typeof value === 'number' && Number.isInteger(value) && value >= 400 && value <= 599) return value;
  }
  return null;
}

/** An error object's code, else its type: the code is more specific (`rate_limit_exceeded`, type `requests`). */
export function typeOf(error: unknown): string {
  const named = asObject(error);
  return asText(named?.code) ?? asText(named?.type) ?? 'error';
}

/** The message of an error object or string, for the log and for a scrubbed in-band message. */
export function messageOf(error: unknown): string {
  return asText(error) ?? asText(asObject(error)?.message) ?? 'upstream gave no reason';
}

/**
 * The sound of a message or a delta, which its provider keeps: a later message names it in place of the sound. Null: it
 * has none. The last delta of a stream states when it expires, in seconds.
 */
export function audioOf(message: JsonObject | null): Partial<StoredObject> | null {
  const audio = asObject(message?.audio);
  if (audio === null) return null;
  const id = asText(audio.id);
  const expiresAtMs = typeof audio.expires_at === 'number' ? Math.round(audio.expires_at * 1_000) : null;
  return {
    ...(id !== null && { kind: 'audio', id }),
    // JSON has numbers that are no time, such as -1e400.
    ...(expiresAtMs !== null && Number.isSafeInteger(expiresAtMs) && { expiresAtMs }),
  };
}

/** Whether it is known by an id. */
export function isKept(audio: Partial<StoredObject> | null): audio is StoredObject {
  return audio?.id !== undefined;
}

/** Of the choices of an answer; undefined: none. */
function audioIn(choices: readonly unknown[]): readonly StoredObject[] | undefined {
  let found: StoredObject[] | undefined;
  for (const choice of choices) {
    const audio = audioOf(asObject(asObject(choice)?.message));
    if (!isKept(audio)) continue;
    found ??= [];
    found.push(audio);
  }
  return found;
}
