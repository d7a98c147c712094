/**
 * Recognizes upstream error messages that report a context overflow (the prompt, or prompt plus output, is too long for
 * the model) and extracts their token counts. Providers share no error code for it, so the message is the main
 * evidence.
 */

export interface Overflow {
  readonly condition: 'context_overflow' | 'output_over_context';
  readonly promptTokens: number | null;
  readonly outputTokens: number | null;
  readonly tokensMax: number | null;
}

const WORDS_CHARS_MAX = 2_000;
const NUMBER = String.raw`\d[\d,]{0,15}`;

/** Values of `error.code` and `error.type` that mean an overflow, whatever the message says. */
const CODES: ReadonlySet<string> = new Set([
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
  'input length \\({prompt}\\) exceeds (?:the )?model.s maximum context length \\({max}\\)',
  // SGLang
  'maximum context length of {max} tokens\\W+you requested a total of {total} tokens: {prompt} tokens from the input messages and {output} tokens',
  'input \\({prompt} tokens\\) is longer than the model.s context length \\({max} tokens\\)',
  // Hugging Face
  'must be <= {max}\\. given: {prompt} `?inputs`? tokens and {output} `?max_new_tokens',
  '`?inputs`? must have less than {max} tokens\\. given: {prompt}',
  // llama.cpp, LM Studio
  'request \\({prompt} tokens\\) exceeds the available context size \\({max} tokens\\)',
  'n_keep: {prompt} ?>= ?n_ctx: {max}',
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
