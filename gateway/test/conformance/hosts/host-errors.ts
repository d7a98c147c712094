/**
 * Lists errors in the shapes of hosts, in invented words, with the class that each must get. Source: provider reference,
 * G and I.
 */
import type { UpstreamProtocolName } from '../../../src/protocols/names.ts';
import type { FailureClass } from '../../../src/routing/health/failure-table.ts';

export interface HostError {
  /** A preset, or a kind that has none. */
  readonly preset: string;
  /** Absent: the first of its formats. */
  readonly format?: UpstreamProtocolName;
  readonly status: number;
  /** A text is sent as it is. */
  readonly body: unknown;
  readonly failureClass: FailureClass;
  /** The pause that it names, in ms. */
  readonly pauseMs?: number;
}

const named = (message: string, code: string | number | null, type = 'error') => ({ error: { message, code, type } });

export const HOST_ERRORS: readonly HostError[] = [
  // fault
  { preset: 'groq', status: 400, body: named('Failed to call a function.', 'tool_use_failed'), failureClass: 'fault' },
  { preset: 'groq', status: 400, body: named('Failed to write JSON.', 'json_validate_failed'), failureClass: 'fault' },
  { preset: 'openrouter', status: 502, body: named('Provider error', 502), failureClass: 'fault' },
  { preset: 'hyperbolic', status: 424, body: named('a dependency failed', null), failureClass: 'fault' },
  { preset: 'together', status: 409, body: named('conflict', null), failureClass: 'fault' },
  { preset: 'nebius', status: 499, body: 'client closed request', failureClass: 'fault' },
  { preset: 'localai', status: 500, body: named('rpc error', 500), failureClass: 'fault' },
  { preset: 'lmstudio', status: 408, body: { error: 'the model was not loaded in time' }, failureClass: 'fault' },
  { preset: 'azure', status: 408, body: 'upstream request timeout', failureClass: 'fault' },
  // overloaded
  {
    preset: 'anthropic',
    status: 529,
    body: { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
    failureClass: 'overloaded',
  },
  { preset: 'xai', status: 503, body: { code: 'busy', error: 'The model is at capacity' }, failureClass: 'overloaded' },
  {
    preset: 'moonshot',
    status: 429,
    body: named('The engine is currently overloaded', null, 'engine_overloaded_error'),
    failureClass: 'overloaded',
  },
  {
    preset: 'gemini-openai',
    status: 503,
    body: [{ error: { code: 503, message: 'Busy.', status: 'UNAVAILABLE' } }],
    failureClass: 'overloaded',
  },
  {
    preset: 'llama-cpp',
    status: 503,
    body: named('Loading model', 503, 'unavailable_error'),
    failureClass: 'overloaded',
  },
  { preset: 'groq', status: 498, body: named('No flex today.', 'capacity_exceeded'), failureClass: 'overloaded' },
  { preset: 'zai', status: 429, body: named('Many are using it now.', '1312'), failureClass: 'overloaded' },
  { preset: 'hyperbolic', status: 503, body: { message: 'No capacity is left' }, failureClass: 'overloaded' },
  // rate
  {
    preset: 'openai',
    status: 429,
    body: named('Rate limit reached on tokens per min. Please try again in 1m2.5s.', 'rate_limit_exceeded'),
    failureClass: 'rate',
    pauseMs: 62_500,
  },
  {
    preset: 'groq',
    status: 429,
    body: named('Rate limit reached. Please try again in 5.289s.', 'rate_limit_exceeded'),
    failureClass: 'rate',
    pauseMs: 5_289,
  },
  {
    preset: 'moonshot',
    status: 429,
    body: named(
      'Your account reached max request: 3, please try again after 1 seconds',
      null,
      'rate_limit_reached_error',
    ),
    failureClass: 'rate',
    pauseMs: 1_000,
  },
  {
    preset: 'gemini-openai',
    status: 429,
    body: [
      {
        error: {
          code: 429,
          message: 'Slow down.',
          status: 'RESOURCE_EXHAUSTED',
          details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '23s' }],
        },
      },
    ],
    failureClass: 'rate',
    pauseMs: 23_000,
  },
  {
    preset: 'gemini',
    status: 429,
    body: { error: { code: 429, message: 'Please retry in 46.5s.', status: 'RESOURCE_EXHAUSTED' } },
    failureClass: 'rate',
    pauseMs: 46_500,
  },
  {
    preset: 'alibaba',
    status: 429,
    body: named(
      'You exceeded your current quota. For details, see: https://help.aliyun.com/zh/model-studio/error-code#token-limit',
      'insufficient_quota',
    ),
    failureClass: 'rate',
  },
  {
    preset: 'alibaba',
    status: 429,
    body: named('Allocated quota exceeded, please increase it.', 'insufficient_quota'),
    failureClass: 'rate',
  },
  { preset: 'zai', status: 429, body: named('High concurrency', '1302'), failureClass: 'rate' },
  {
    preset: 'cerebras',
    status: 400,
    body: { message: 'Too many requests', type: 'x', code: 'queue' },
    failureClass: 'rate',
  },
  { preset: 'sambanova', status: 429, body: named('slow down', null), failureClass: 'rate' },
  {
    preset: 'github-models',
    status: 429,
    body: named('Rate limit of 50 per 86400s exceeded', 'RateLimitReached'),
    failureClass: 'rate',
  },
  {
    preset: 'bedrock',
    format: 'converse',
    status: 429,
    body: { message: 'Too many tokens per day, please wait before trying again.' },
    failureClass: 'rate',
    pauseMs: 3_600_000,
  },
  {
    preset: 'gemini',
    status: 429,
    body: {
      error: {
        code: 429,
        message: 'You used up the quota of the day.',
        status: 'RESOURCE_EXHAUSTED',
        details: [
          {
            '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
            violations: [{ quotaId: 'RequestsPerDayPerProject', quotaDimensions: { model: 'tide-1' } }],
          },
        ],
      },
    },
    failureClass: 'rate',
  },
  {
    preset: 'azure',
    status: 429,
    body: { error: { code: 'RateLimitReached', message: 'Rate limit of 10 per 60s exceeded', details: 'wait' } },
    failureClass: 'rate',
  },
  // quota
  { preset: 'openai', status: 429, body: named('You used it all.', 'insufficient_quota'), failureClass: 'quota' },
  {
    preset: 'anthropic',
    status: 400,
    body: {
      type: 'error',
      error: { type: 'invalid_request_error', message: 'Your credit balance is too low to use this.' },
    },
    failureClass: 'quota',
  },
  {
    preset: 'deepseek',
    status: 402,
    body: named('Insufficient Balance', 'invalid_request_error'),
    failureClass: 'quota',
  },
  { preset: 'openrouter', status: 402, body: named('Add credits.', 402), failureClass: 'quota' },
  {
    preset: 'huggingface',
    status: 402,
    body: { error: 'You have exceeded your monthly included credits' },
    failureClass: 'quota',
  },
  {
    preset: 'fireworks',
    status: 412,
    body: named('Account harbor is suspended, possibly due to the monthly spending limit', 'PRECONDITION_FAILED'),
    failureClass: 'quota',
  },
  {
    preset: 'minimax',
    status: 402,
    body: { base_resp: { status_code: 1008, status_msg: 'insufficient balance' } },
    failureClass: 'quota',
  },
  { preset: 'deepinfra', status: 402, body: { detail: { error: 'Top up your balance' } }, failureClass: 'quota' },
  {
    preset: 'zai-messages',
    status: 429,
    body: {
      type: 'error',
      error: { type: 'rate_limit_error', code: '1113', message: '[1113][Insufficient balance. Please recharge.]' },
    },
    failureClass: 'quota',
  },
  {
    preset: 'cloudflare',
    status: 429,
    body: {
      success: false,
      errors: [{ code: 4006, message: 'AiError: 4006: you have used up your daily free allocation of 9 neurons' }],
    },
    failureClass: 'quota',
  },
  // credential
  {
    preset: 'gemini',
    status: 400,
    body: {
      error: { code: 400, message: 'API key not valid. Please pass a valid API key.', status: 'INVALID_ARGUMENT' },
    },
    failureClass: 'credential',
  },
  {
    preset: 'xai',
    status: 400,
    body: { code: 'bad', error: 'Incorrect API key provided: xa***zz.' },
    failureClass: 'credential',
  },
  { preset: 'mistral', status: 401, body: { message: 'Unauthorized', request_id: 'r1' }, failureClass: 'credential' },
  { preset: 'voyage', status: 401, body: { detail: 'Provided API key is invalid.' }, failureClass: 'credential' },
  {
    preset: 'jina',
    status: 401,
    body: { detail: '[AUTHENTICATION_INVALID] Invalid API key' },
    failureClass: 'credential',
  },
  { preset: 'cohere', status: 401, body: { message: 'invalid api token' }, failureClass: 'credential' },
  {
    preset: 'cloudflare',
    status: 403,
    body: { success: false, errors: [{ code: 10000, message: 'Authentication error' }] },
    failureClass: 'credential',
  },
  {
    preset: 'databricks',
    status: 403,
    body: { error_code: 'PERMISSION_DENIED', message: 'no right to the endpoint' },
    failureClass: 'credential',
  },
  { preset: 'snowflake', status: 401, body: { message: 'Invalid token', code: '390303' }, failureClass: 'credential' },
  {
    preset: 'perplexity',
    status: 401,
    body: '<html><head><title>401 Authorization Required</title></head></html>',
    failureClass: 'credential',
  },
  {
    preset: 'nvidia-nim',
    status: 403,
    body: { status: 403, title: 'Forbidden', detail: 'Authorization failed' },
    failureClass: 'credential',
  },
  // config
  {
    preset: 'openai',
    status: 404,
    body: named('The model `tide-9` does not exist or you do not have access to it.', 'model_not_found'),
    failureClass: 'config',
  },
  {
    preset: 'vllm',
    status: 404,
    body: {
      object: 'error',
      message: 'The model `tide-9` does not exist.',
      type: 'NotFoundError',
      param: null,
      code: 404,
    },
    failureClass: 'config',
  },
  {
    preset: 'ollama',
    status: 404,
    body: named('model "tide-9" not found, try pulling it first', null, 'api_error'),
    failureClass: 'config',
  },
  {
    preset: 'mistral',
    status: 400,
    body: { object: 'error', message: 'Invalid model: tide-9', type: 'invalid_model', param: null, code: '1500' },
    failureClass: 'config',
  },
  {
    preset: 'perplexity',
    status: 400,
    body: named("Invalid model 'tide-9'. Permitted models can be found in a list.", 400, 'invalid_model'),
    failureClass: 'config',
  },
  {
    preset: 'deepseek',
    status: 400,
    body: named('Model Not Exist', 'invalid_request_error', 'invalid_request_error'),
    failureClass: 'config',
  },
  {
    preset: 'openrouter',
    status: 400,
    body: { error: { message: 'harbor/tide-9 is not a valid model ID', code: 400 } },
    failureClass: 'config',
  },
  {
    preset: 'huggingface',
    status: 400,
    body: named(
      "The requested model 'harbor/tide-9' is not supported by any provider you have enabled.",
      null,
      'invalid_request_error',
    ),
    failureClass: 'config',
  },
  { preset: 'github-models', status: 400, body: named('Unknown model: tide-9', null), failureClass: 'config' },
  { preset: 'zai', status: 400, body: named('No such code', '1211'), failureClass: 'config' },
  { preset: 'groq', status: 400, body: named('tide-9 is gone.', 'model_decommissioned'), failureClass: 'config' },
  { preset: 'together', status: 400, body: named('Start an endpoint.', 'model_not_available'), failureClass: 'config' },
  { preset: 'github-models', status: 400, body: named('Not now: tide-9', 'unavailable_model'), failureClass: 'config' },
  {
    preset: 'nvidia-nim',
    status: 404,
    body: { status: 404, title: 'Not Found', detail: "Function 'a1b2': Not found for account 'c3d4'" },
    failureClass: 'config',
  },
  {
    preset: 'openai',
    status: 403,
    body: named('Project `proj_1` does not have access to model `tide-9`', null),
    failureClass: 'config',
  },
  // overflow
  { preset: 'zai', status: 400, body: named('Too many tokens', '1261'), failureClass: 'overflow' },
  {
    preset: 'ollama',
    status: 400,
    body: named('prompt too long; exceeded max context length by 12 tokens', null),
    failureClass: 'overflow',
  },
  {
    preset: 'llama-cpp',
    status: 400,
    body: {
      error: {
        code: 400,
        message: 'request exceeds it',
        type: 'exceed_context_size_error',
        n_prompt_tokens: 9_000,
        n_ctx: 4_096,
      },
    },
    failureClass: 'overflow',
  },
  {
    preset: 'sglang',
    status: 400,
    body: {
      object: 'error',
      message: "The input (9000 tokens) is longer than the model's context length (4096 tokens)",
      code: 400,
    },
    failureClass: 'overflow',
  },
  {
    preset: 'perplexity',
    status: 400,
    body: named('long', 'too_many_prompt_tokens', 'too_many_prompt_tokens'),
    failureClass: 'overflow',
  },
  // policy
  { preset: 'openai', status: 400, body: named('It was refused.', 'content_policy_violation'), failureClass: 'policy' },
  {
    preset: 'openrouter',
    status: 403,
    body: named('harbor/tide-1 requires moderation on Harbor. Your input was flagged for "storms".', 403),
    failureClass: 'policy',
  },
  {
    preset: 'openrouter',
    status: 403,
    body: { error: { code: 403, message: 'Declined', metadata: { reasons: ['storms'], flagged_input: 'a storm' } } },
    failureClass: 'policy',
  },
  {
    preset: 'xai',
    status: 403,
    body: {
      code: 'The caller does not have permission to execute the specified operation',
      error: 'Content violates usage guidelines. Team: t1, API key ID: k1, Model: tide-1, Failed check: STORMS',
    },
    failureClass: 'policy',
  },
  {
    preset: 'alibaba',
    status: 400,
    body: named('Input data may be bad.', 'data_inspection_failed', 'data_inspection_failed'),
    failureClass: 'policy',
  },
  {
    preset: 'deepseek',
    status: 400,
    body: named('Content Exists Risk', 'invalid_request_error', 'invalid_request_error'),
    failureClass: 'policy',
  },
  {
    preset: 'moonshot',
    status: 400,
    body: named('Considered high risk', 400, 'content_filter'),
    failureClass: 'policy',
  },
  {
    preset: 'zai',
    status: 400,
    body: named('It has potentially unsafe or sensitive content.', '1301'),
    failureClass: 'policy',
  },
  // content
  {
    preset: 'gemini',
    status: 403,
    body: {
      error: {
        code: 403,
        message: 'You do not have permission to access the File tide1 or it may not exist.',
        status: 'PERMISSION_DENIED',
      },
    },
    failureClass: 'content',
  },
  {
    preset: 'gemini',
    status: 403,
    body: {
      error: { code: 403, message: 'Permission denied while accessing input file.', status: 'PERMISSION_DENIED' },
    },
    failureClass: 'content',
  },
  {
    preset: 'mistral',
    status: 422,
    body: { detail: [{ loc: ['body', 'n'], msg: 'must be 1', type: 'value_error' }] },
    failureClass: 'content',
  },
  { preset: 'deepseek', status: 422, body: 'unknown variant `image_url`, expected `text`', failureClass: 'content' },
  { preset: 'openai', status: 400, body: named("'messages' is empty", 'invalid_value'), failureClass: 'content' },
  {
    preset: 'anthropic',
    status: 413,
    body: { type: 'error', error: { type: 'request_too_large', message: 'too large' } },
    failureClass: 'content',
  },
  { preset: 'azure', status: 413, body: 'Failed to buffer the request body.', failureClass: 'content' },
  // ours
  {
    preset: 'anthropic',
    status: 400,
    body: {
      type: 'error',
      error: {
        type: 'invalid_request_error',
        message: 'messages.1.content.0: Invalid `signature` in `thinking` block',
      },
    },
    failureClass: 'ours',
  },
];
