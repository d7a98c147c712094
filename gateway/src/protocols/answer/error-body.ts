/**
 * Extracts the message and code of any provider's error body, and recognizes by them a problem of the operator's
 * account and a context overflow with its token counts. Ignores the HTTP status.
 */
import { asArray, asObject, asText, type JsonObject } from '../json.ts';
import { type AccountTrouble, readMeaning } from './error-words.ts';

/** The content of an upstream error body, independent of the format. */
export interface UpstreamError {
  readonly condition: 'context_overflow' | 'output_over_context' | 'signature' | 'other';
  /** Upstream's message; empty: it gave none. Not scrubbed. */
  readonly message: string;
  /** Upstream's error code or type, if it is a string. */
  readonly code: string | null;
  /** The status that its code means, if the response has another; absent: that of the response. */
  readonly status?: number;
  /** The path of the request member at fault (`error.param`), as upstream reports it. */
  readonly param: string | null;
  /** The problem with the operator's account at the upstream, by code and message; null if none. */
  readonly trouble: AccountTrouble | null;
  /** Tokens of the prompt, of the requested output, and the limit, if the message names them. */
  readonly promptTokens: number | null;
  readonly outputTokens: number | null;
  readonly tokensMax: number | null;
  /** The delay before a retry that members of the body name, in seconds; absent: none. */
  readonly retrySeconds?: number;
  /** Its members say that a limit is that of one model; absent: they do not, and the words decide. */
  readonly ofModel?: true;
}

/** A context overflow, read mainly from the message: providers share no error code for it. */
export interface Overflow {
  readonly condition: 'context_overflow' | 'output_over_context';
  readonly promptTokens: number | null;
  readonly outputTokens: number | null;
  readonly tokensMax: number | null;
}

const NUMBER = String.raw`\d[\d,]{0,15}`;

/** Values of `error.code` and `error.type` that mean an overflow, whatever the message says. */
const CODES: ReadonlySet<string> = new Set([
  // Z.ai.
  '1261',
  'context_length_exceeded',
  'context_window_exceeded',
  'exceed_context_size_error',
  'model_context_window_exceeded',
  'model_max_prompt_tokens_exceeded',
  'tokens_limit_reached',
  'too_many_prompt_tokens',
]);

/** Token rate limits use many of the same words but are not context overflows. */
const ABOUT_RATES = /\bper (?:second|min|hour|day)|\b[tr]p[md]\b|rate.?limit|quota|throttl|please wait|\busage limit/i;

/**
 * Providers' messages, the most specific first. `{prompt}`, `{output}`, `{total}` and `{max}` match token counts.
 * Sources: recorded traffic (Anthropic, DeepSeek, Gemini, Ollama, OpenRouter, Perplexity, xAI), the wire reference C.6
 * and E.5, else user reports (read in November 2026).
 */
const PHRASES: readonly RegExp[] = [
  // Anthropic
  'prompt is too long: {prompt} tokens > {max} maximum',
  'input length and `?max_tokens`? exceed context limit: {prompt} \\+ {output} > {max}',
  // OpenAI, DeepSeek, OpenRouter, vLLM
  'maximum context length is {max} tokens\\W+however,? you requested (?:about )?{total} tokens \\([^)]{0,200}?{output} (?:in|for|of) the (?:completion|output)',
  'maximum context length is {max} tokens\\W+however,? (?:you requested (?:about )?|your (?:messages|request|prompt) (?:resulted in|has|contains) ){total} (?:input )?tokens',
  'is too large: {output}\\.[^{]{0,40}maximum context length is {max} tokens and your request has {prompt} input tokens',
  'passed {prompt} input tokens and requested {output} output tokens[^{]{0,60}context length is only {max} tokens',
  'exceed the configured limit of {max} tokens\\W+your messages resulted in {prompt} tokens',
  'prompt \\(length {prompt}\\) is longer than the maximum model length of {max}',
  'prompt length {prompt} exceeds the max_model_len {max}',
  'input length \\({prompt}\\) exceeds (?:the )?model.s maximum context length \\({max}\\)',
  // Baseten
  'input length {prompt} exceeds the maximum allowed input length of {max}',
  // SGLang
  'maximum context length of {max} tokens\\W+you requested a total of {total} tokens: {prompt} tokens from the input messages and {output} tokens',
  'input \\({prompt} tokens\\) is longer than the model.s context length \\({max} tokens\\)',
  // Hugging Face
  'must be <= {max}\\. given: {prompt} `?inputs`? tokens and {output} `?max_new_tokens',
  '`?inputs`? must have less than {max} tokens\\. given: {prompt}',
  // llama.cpp, LM Studio
  'request \\({prompt} tokens\\) exceeds the available context size \\({max} tokens\\)',
  'n_keep:? \\(?{prompt}\\)? ?>= ?n_ctx:? \\(?{max}',
  'keep the first {prompt} tokens when [^{]{0,80}context length of only {max} tokens',
  'prompt has {prompt} tokens, but the configured context size is {max} tokens',
  // xAI, Gemini, Mistral, Moonshot, Cerebras, Fireworks, Cohere, Alibaba, GitHub
  'maximum prompt length is {max} but the request contains {prompt} tokens',
  'input token count \\(?{prompt}\\)? exceeds the maximum number of tokens allowed \\(?{max}',
  'prompt contains {prompt} tokens[^{]{0,40}too large for model with {max} maximum context length',
  'exceeded model token limit: {max} \\(requested: {total}\\)',
  'current length is {prompt} while limit is {max}',
  'prompt is too long: {prompt}, model maximum context length: {max}',
  'tokens in the prompt cannot exceed {max} - received {prompt}',
  'range of input length should be \\[1, {max}\\]',
  'prompt token count of {prompt} exceeds the limit of {max}',
  'request body too large for [^{]{1,80} model\\. max size: {max} tokens',
  // Not all counts
  'maximum context length (?:is|of) {max}',
  'prompt (?:is )?too long',
  'input is too long for requested model',
  '^input is too long\\.?$',
  'total length of all messages is too long',
  'maximum context length|maximum model length|max context length',
  'exceed\\w* (?:the |this )?(?:model.s )?(?:available |maximum )?context(?: |_)(?:window|length|limit|size)',
  'context(?: |_)(?:window|length) (?:is )?exceed|context(?: |_)length_exceeded',
  '(?:longer|greater) than the (?:model.s )?context length',
  'reduce the length of the (?:messages|input|prompt)',
  'input tokens exceed|input token count exceeds|prompt exceeds max length|too many (?:input )?tokens:',
].map(patternOf);

function patternOf(phrase: string): RegExp {
  return new RegExp(phrase.replaceAll(/\{(\w+)\}/g, `(?<$1>${NUMBER})`), 'i');
}

/**
 * The overflow that an error message and code (`error.code`, else `error.type`) report; null if none.
 * `output_over_context` only if the counts show that the prompt alone fits.
 */
export function readOverflow(words: string, code: string | null): Overflow | null {
  const text = words.slice(0, WORDS_CHARS_MAX);
  if (ABOUT_RATES.test(text) || (code !== null && ABOUT_RATES.test(code))) return null;
  for (const phrase of PHRASES) {
    const found = phrase.exec(text);
    if (found !== null) return overflowOf(found.groups ?? {});
  }
  return code !== null && CODES.has(code) ? overflowOf({}) : null;
}

function overflowOf(found: { readonly [name: string]: string | undefined }): Overflow {
  const tokensMax = countOf(found.max);
  const outputTokens = countOf(found.output);
  const total = countOf(found.total);
  const promptTokens = countOf(found.prompt) ?? (total === null ? null : Math.max(0, total - (outputTokens ?? 0)));
  const known = promptTokens !== null && outputTokens !== null && tokensMax !== null;
  const together = known && promptTokens < tokensMax && promptTokens + outputTokens > tokensMax;
  return { condition: together ? 'output_over_context' : 'context_overflow', promptTokens, outputTokens, tokensMax };
}

function countOf(digits: string | undefined): number | null {
  const count = digits === undefined ? Number.NaN : Number(digits.replaceAll(',', ''));
  return Number.isSafeInteger(count) ? count : null;
}

/** Larger bodies are not errors and are not read. */
const BODY_BYTES_MAX = 256 * 1024;
const WORDS_CHARS_MAX = 2_000;

export interface ErrorBody {
  /** Empty: no message, or only an HTML page or binary data. */
  readonly message: string;
  /** `error.code`, else `error.type`, if it is a string. */
  readonly code: string | null;
  /** The error object, or the body if it has none; null: the body is not a JSON object. */
  readonly error: JsonObject | null;
}

const NOTHING: ErrorBody = { message: '', code: null, error: null };

/**
 * Reads `{"error":{"message"}}`, `{"error":"…"}`, `{"message"}`, `{"detail"}` (a string, `{error}`, or a list of
 * `{loc, msg}`), an array that starts with one of them, and plain text.
 */
export function readErrorBody(body: Buffer): ErrorBody {
  if (body.length === 0 || body.length > BODY_BYTES_MAX) return NOTHING;
  const text = body.toString('utf8').trim();
  const parsed = parseJson(text);
  if (parsed === undefined) return { ...NOTHING, message: plainWords(text) };
  if (typeof parsed === 'string') return { ...NOTHING, message: plainWords(parsed) };
  const whole = asObject(Array.isArray(parsed) ? parsed[0] : parsed);
  if (whole === null) return NOTHING;
  // Cloudflare lists its errors; Databricks' code is `error_code`.
  const error = asObject(whole.error) ?? asObject(asArray(whole.errors)[0]) ?? whole;
  const words = asText(error.message) ?? asText(whole.error) ?? asText(whole.message) ?? detailOf(whole.detail);
  const named = asText(error.code) ?? asText(error.type) ?? asText(whole.code) ?? asText(whole.error_code);
  // Google's word, in its chat format.
  const code = named ?? asText(error.status);
  return { message: (words ?? '').slice(0, WORDS_CHARS_MAX), code, error };
}

/** Messages of Anthropic's signature validator, which resellers of its models pass on (wire reference C.5 and C.6). */
const ABOUT_SIGNATURES = [
  /\binvalid\s+`?(?:signature|data)`?\s+in\s+`?(?:redacted_)?thinking`?\s+block/i,
  /`?thinking`?[^.]{0,60} blocks?[^.]{0,60} cannot be modified/i,
  /\bthought.?signature\b/i,
];

/** Classifies an error by its message and code. */
export function describeError(message: string, code: string | null, param: string | null = null): UpstreamError {
  const meaning = readMeaning(message, code);
  const trouble = typeof meaning === 'string' ? meaning : null;
  const overflow = readOverflow(message, code);
  const status = typeof meaning === 'number' ? { status: meaning } : {};
  if (overflow !== null) return { message, code, param, trouble, ...status, ...overflow };
  const condition = ABOUT_SIGNATURES.some((pattern) => pattern.test(message)) ? 'signature' : 'other';
  const counts = { promptTokens: null, outputTokens: null, tokensMax: null };
  return { condition, message, code, param, trouble, ...status, ...counts };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The first line of a text; empty for an HTML page and for binary data. */
function plainWords(text: string): string {
  const line = (text.split('\n', 1)[0] ?? '').trim().slice(0, WORDS_CHARS_MAX);
  return /^<|<\/?(?:html|head|body|title)\b|<!doctype|\ufffd|\0/i.test(line) ? '' : line;
}

/** FastAPI's `detail`: a string, or a list of locations and messages; DeepInfra's: an object with an `error`. */
function detailOf(detail: unknown): string | null {
  if (typeof detail === 'string') return asText(detail);
  const inner = asText(asObject(detail)?.error);
  if (inner !== null) return inner;
  const faults = asArray(detail).flatMap((fault) => {
    const words = asText(asObject(fault)?.msg);
    return words === null ? [] : [[...asArray(asObject(fault)?.loc).map(String), words].join(': ')];
  });
  return faults.length === 0 ? null : faults.join('; ');
}
