/**
 * Tests how context overflows are recognized: every provider's message is recognized by its numbers, and messages
 * about anything else are not.
 */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { startCpuClock } from '../../../test/harness/cpu-clock.ts';
import { readOverflow } from './error-body.ts';

type Row = readonly [host: string, words: string, prompt: number | null, output: number | null, max: number | null];

const TOO_LONG: readonly Row[] = [
  ['Anthropic', 'prompt is too long: 210000 tokens > 200000 maximum', 210000, null, 200000],
  [
    'OpenAI',
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens. Please reduce the length of the messages.",
    9001,
    null,
    8192,
  ],
  [
    'OpenAI, older',
    "This model's maximum context length is 4097 tokens, however you requested 5346 tokens (5341 in your prompt; 5 for the completion). Please reduce your prompt; or completion length.",
    5341,
    5,
    4097,
  ],
  [
    'OpenAI with a limit set',
    'Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300007 tokens. Please reduce the length of the messages.',
    300007,
    null,
    272000,
  ],
  ['OpenAI, responses', 'Your input exceeds the context window of this model.', null, null, null],
  [
    'DeepSeek',
    "This model's maximum context length is 65536 tokens. However, you requested 70000 tokens (70000 in the messages, 0 in the completion).",
    70000,
    0,
    65536,
  ],
  [
    'OpenRouter',
    "This endpoint's maximum context length is 1048576 tokens. However, you requested about 1293741 tokens (1227853 of text input, 353 of tool input, 65535 in the output).",
    1228206,
    65535,
    1048576,
  ],
  [
    'OpenRouter, input alone',
    "This endpoint's maximum context length is 200000 tokens. However, you requested about 2500021 tokens (2500021 of text input). Please reduce it.",
    2500021,
    null,
    200000,
  ],
  [
    'vLLM',
    'The decoder prompt (length 5000) is longer than the maximum model length of 4096. Make sure that it is.',
    5000,
    null,
    4096,
  ],
  [
    'vLLM, newer',
    "You passed 131073 input tokens and requested 0 output tokens. However, the model's context length is only 131072 tokens, resulting in a maximum input length of 131072 tokens.",
    131073,
    0,
    131072,
  ],
  ['SGLang', "The input (5000 tokens) is longer than the model's context length (4096 tokens).", 5000, null, 4096],
  [
    'llama.cpp',
    'request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it',
    5000,
    null,
    4096,
  ],
  [
    'llama.cpp, older',
    'the request exceeds the available context size. try increasing the context size',
    null,
    null,
    null,
  ],
  [
    'LM Studio',
    'tokens to keep from the initial prompt is greater than the context length (n_keep: 5000>= n_ctx: 4096)',
    5000,
    null,
    4096,
  ],
  [
    'LM Studio, with a prompt that alone is too long',
    'Trying to keep the first 10136 tokens when context the overflows. However, the model is loaded with context length of only 7866 tokens, which is not enough. Try to load the model with a larger context length, or provide a shorter input',
    10136,
    null,
    7866,
  ],
  ['LM Studio, newer', 'Cannot truncate prompt with n_keep (15028) >= n_ctx (7424)', 15028, null, 7424],
  [
    'vLLM for responses',
    'The engine prompt length 227861 exceeds the max_model_len 131072. Please reduce prompt.',
    227861,
    null,
    131072,
  ],
  ['Baseten', 'Input length 131393 exceeds the maximum allowed input length of 131040 tokens.', 131393, null, 131040],
  ['Ollama', 'prompt too long; exceeded max context length by 1119046 tokens', null, null, null],
  ['Ollama, embedded', 'the input length exceeds the context length', null, null, null],
  ['xAI', "This model's maximum prompt length is 131072 but the request contains 625077 tokens.", 625077, null, 131072],
  [
    'Gemini',
    'The input token count (1250060) exceeds the maximum number of tokens allowed (1048575).',
    1250060,
    null,
    1048575,
  ],
  [
    'Mistral',
    'Prompt contains 33000 tokens and 0 draft tokens, too large for model with 32768 maximum context length',
    33000,
    null,
    32768,
  ],
  ['Moonshot', 'Your request exceeded model token limit: 262144 (requested: 300000)', 300000, null, 262144],
  ['Cerebras', 'Please reduce it. Current length is 140000 while limit is 131072', 140000, null, 131072],
  ['Fireworks', 'The prompt is too long: 140000, model maximum context length: 131071', 140000, null, 131071],
  [
    'Cohere',
    'too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000.',
    5000,
    null,
    4081,
  ],
  ['Alibaba', 'Range of input length should be [1, 129024]', null, null, 129024],
  ['GitHub', 'prompt token count of 140000 exceeds the limit of 128000', 140000, null, 128000],
  ['Hugging Face', '`inputs` must have less than 4096 tokens. Given: 5000', 5000, null, 4096],
  [
    'a host with commas',
    'Prompt has 300,000 tokens, but the configured context size is 131,072 tokens',
    300000,
    null,
    131072,
  ],
  ['MiniMax', 'invalid params, context window exceeds limit', null, null, null],
  ['Groq', 'Please reduce the length of the messages or completion.', null, null, null],
  ['Perplexity', 'The total length of all messages is too long.', null, null, null],
  ['Amazon', 'The model returned the following errors: Input is too long for requested model.', null, null, null],
  ['Amazon, shorter', 'Input is too long.', null, null, null],
  ['a host that quotes another', '{"error":{"message":"prompt is too long: 9 tokens > 8 maximum"}}', 9, null, 8],
];

const TOO_LONG_TOGETHER: readonly Row[] = [
  [
    'Anthropic',
    'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again',
    190000,
    20000,
    200000,
  ],
  [
    'OpenAI',
    "This model's maximum context length is 4097 tokens. However, you requested 5000 tokens (1000 in the messages, 50 in the functions, and 3950 in the completion). Please reduce the length.",
    1050,
    3950,
    4097,
  ],
  [
    'vLLM',
    "'max_tokens' or 'max_completion_tokens' is too large: 2000. This model's maximum context length is 4096 tokens and your request has 2104 input tokens (2000 > 4096 - 2104).",
    2104,
    2000,
    4096,
  ],
  [
    'vLLM, newer',
    "You passed 67073 input tokens and requested 64000 output tokens. However, the model's context length is only 131072 tokens, resulting in a maximum input length of 67072 tokens.",
    67073,
    64000,
    131072,
  ],
  [
    'SGLang',
    "Requested token count exceeds the model's maximum context length of 4096 tokens. You requested a total of 5000 tokens: 1000 tokens from the input messages and 4000 tokens for the completion.",
    1000,
    4000,
    4096,
  ],
  [
    'Hugging Face',
    'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 8000 `inputs` tokens and 1000 `max_new_tokens`',
    8000,
    1000,
    8193,
  ],
];

describe('words of a prompt that is too long', () => {
  test.each(TOO_LONG)('of %s', (_, words, promptTokens, outputTokens, tokensMax) => {
    expect(readOverflow(words, null)).toEqual({ condition: 'context_overflow', promptTokens, outputTokens, tokensMax });
  });

  test.each(TOO_LONG_TOGETHER)('an overflow of %s with the requested output', (_, words, prompt, output, max) => {
    expect(readOverflow(words, null)).toEqual({
      condition: 'output_over_context',
      promptTokens: prompt,
      outputTokens: output,
      tokensMax: max,
    });
  });

  test.each(['context_length_exceeded', 'exceed_context_size_error', 'too_many_prompt_tokens', 'tokens_limit_reached'])(
    'by the code %s alone',
    (code) => {
      expect(readOverflow('no.', code)?.condition).toBe('context_overflow');
    },
  );

  test('a prompt that fills the context exactly is not fixed by a shorter answer', () => {
    const words =
      "You passed 4096 input tokens and requested 10 output tokens. However, the model's context length is only 4096 tokens.";
    expect(readOverflow(words, null)?.condition).toBe('context_overflow');
  });
});

describe('words about something else', () => {
  test.each([
    [
      "This request would exceed your organization's rate limit of 450,000 input tokens per minute. Reduce the prompt length.",
      null,
    ],
    [
      'Request too large on tokens per min (TPM): Limit 6000, Requested 7000, please reduce the length of the messages',
      'tokens',
    ],
    ['prompt is too long: 9 tokens > 8 maximum', 'rate_limit_exceeded'],
    ['Too many tokens, please wait before trying again.', null],
    ['max_tokens is too large: 100000. This model supports at most 16384 completion tokens', 'invalid_value'],
    ['max_tokens: 100000 > 8192, which is the maximum allowed number of output tokens', 'invalid_request_error'],
    ["Invalid 'user': string too long. Expected a string with maximum length 64.", 'string_above_max_length'],
    ['messages: text content blocks must be non-empty', 'invalid_request_error'],
    ['', null],
  ])('are not taken for it: %s', (words, code) => {
    expect(readOverflow(words, code)).toBeNull();
  });
});

test('numbers are never invented: each is one that the words hold, or a sum of theirs', () => {
  const count = fc.nat({ max: 2_000_000 });
  fc.assert(
    fc.property(count, count, count, (prompt, output, max) => {
      const read = readOverflow(
        `This model's maximum context length is ${max} tokens. However, you requested ${prompt + output} tokens (${prompt} in the messages, ${output} in the completion).`,
        null,
      );
      expect(read).toEqual({
        condition: prompt < max && prompt + output > max ? 'output_over_context' : 'context_overflow',
        promptTokens: prompt,
        outputTokens: output,
        tokensMax: max,
      });
    }),
  );
});

test('any words are read within a moment, however they repeat', () => {
  const pieces = [
    'maximum context length is ',
    '1',
    ',',
    ' tokens',
    '. however, you requested ',
    '(',
    ' in the ',
    'exceeds ',
    ' ',
  ];
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 3_000 }), (parts) => {
      const cpuMs = startCpuClock();
      readOverflow(parts.join(''), null);
      expect(cpuMs()).toBeLessThan(1_000);
    }),
    { numRuns: 60 },
  );
});
