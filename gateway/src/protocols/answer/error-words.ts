/**
 * Recognizes what an error means by its code and words, before its status: hosts report the operator's trouble, rates
 * and faults with statuses that blame the caller. Source: provider reference, I.
 */

/** `account`: credential, balance, quota, organization. `model`: configured model, deployment or address not found. */
export type AccountTrouble = 'account' | 'model';

/** The trouble of the operator, or the status that says what happened. */
type Meaning = AccountTrouble | number;

interface Recognizer {
  /** Exact values of `error.code`, else `error.type`. */
  readonly codes?: readonly string[];
  /** Patterns for the start of the message. */
  readonly words?: readonly string[];
  readonly host: string;
  /** The source and its date; `recorded`: seen in real traffic. */
  readonly source: string;
}

const RECORDED = 'recorded, read 2026-11-22';
const ZAI = 'https://docs.z.ai/api-reference/api-code (2026-11-23)';

/** Words are checked from the top of each table; the codes and words of a row are alternatives. */
/** A fault of the request, refused with a 403. */
const OF_CONTENT: readonly Recognizer[] = [
  {
    host: 'OpenRouter',
    codes: ['content_policy_violation'],
    words: ['your chosen model requires moderation', '\\S{1,200} requires moderation on '],
    source: 'https://openrouter.ai/docs/api/reference/errors-and-debugging (2026-11-23)',
  },
  {
    host: 'xAI',
    words: ['content violates usage guidelines'],
    source: 'https://github.com/UKGovernmentBEIS/inspect_ai/pull/2267 (2025-08-12)',
  },
  {
    host: 'Gemini, Vertex',
    // An address in the prompt that Google may not read.
    words: ['you do not have permission to access the file ', 'permission denied while accessing input file'],
    source:
      'https://github.com/googleapis/python-genai/issues/1218 (2025-08-06), https://github.com/googleapis/js-genai/issues/666 (2025-06-05)',
  },
];

const OF_MODEL: readonly Recognizer[] = [
  {
    host: 'Vertex',
    words: [
      'project [^ ]{1,100} is not allowed to use publisher model\\b',
      'publisher model `[^`]{1,300}` was not found',
    ],
    source:
      'https://github.com/langchain-ai/langchain-google/issues/593 (2024-11-07), https://github.com/genkit-ai/genkit/issues/4688',
  },
  {
    host: 'Amazon Bedrock',
    // A 403 or 404 about one model: others of the account go on.
    words: [
      'model use case details have not been submitted',
      'you don.t have access to the model',
      'model access is denied',
    ],
    source:
      'https://docs.aws.amazon.com/bedrock/latest/userguide/model-access.html (2026-11-22), https://github.com/ministryofjustice/modernisation-platform-environments/pull/18323 (2026-08-21)',
  },
  {
    host: 'Amazon Bedrock',
    words: [
      'the provided model identifier is invalid',
      'invocation of model id \\S{1,300} with on-demand throughput isn.t supported',
      'model `[^`]{1,300}` isn.t supported on this route',
    ],
    source: `${RECORDED}; https://github.com/BerriAI/litellm/issues/8851 (2025-02-26)`,
  },
  {
    host: 'OpenAI, Groq, vLLM',
    codes: ['model_not_found'],
    words: [
      'project `[^`]{1,100}` does not have access to model ',
      'the (?:requested )?model [`\'"][^`\'"]{1,300}[`\'"] does not exist',
      'this is not a chat model',
    ],
    source: RECORDED,
  },
  {
    host: 'Groq, Together, GitHub, Azure',
    // A 400.
    codes: [
      'model_decommissioned',
      'model_not_available',
      'unknown_model',
      'unavailable_model',
      'OperationNotSupported',
    ],
    source:
      'https://github.com/RightNow-AI/openfang/issues/60 (2026-02-28), https://github.com/HeyPuter/puter/issues/3168 (read 2026-11-23), https://github.com/github/gh-models/issues/65 (2025-06-15), https://github.com/langchain-ai/langmem/issues/13 (2025-02-26)',
  },
  {
    host: 'NVIDIA',
    words: ["function '[^']{1,100}': not found for account"],
    source: 'https://github.com/Alishahryar1/free-claude-code/issues/956 (2026-07-02)',
  },
  {
    host: 'Azure',
    codes: ['DeploymentNotFound'],
    words: ['the api deployment for this resource does not exist', 'resource not found$'],
    source: RECORDED,
  },
  { host: 'Anthropic', words: ['model: \\S{1,300}$'], source: RECORDED },
  { host: 'Gemini', words: ['models/\\S{1,300} is not found for api version'], source: RECORDED },
  { host: 'Vertex', words: ['publisher model `[^`]{1,300}` not found'], source: RECORDED },
  {
    host: 'Ollama',
    words: ['model [\'"][^\'"]{1,300}[\'"] not found'],
    source: 'https://github.com/ollama/ollama/blob/main/docs/api.md (2026-11-22)',
  },
  { host: 'Z.ai', codes: ['1211', '1311'], source: ZAI },
  {
    host: 'Mistral, GitHub, Perplexity',
    // These and the next are a 400.
    codes: ['invalid_model'],
    words: ['(?:invalid|unknown) model: \\S{1,300}$', "invalid model '[^']{1,300}'\\. permitted models"],
    source:
      'https://github.com/mistralai/mistral-vibe/issues/617 (2026-04-21), https://github.com/open-webui/open-webui/issues/6941 (2024-11-14), https://github.com/lobehub/lobehub/issues/3280 (2024-07-21)',
  },
  {
    host: 'DeepSeek, OpenRouter, Hugging Face',
    codes: ['model_not_supported'],
    words: [
      'model not exist$',
      '\\S{1,300} is not a valid model id$',
      "the requested model '[^']{1,300}' is not supported by any provider",
    ],
    source:
      'https://github.com/ConardLi/easy-dataset/issues/9 (2025-03-13), https://github.com/OpenRouterTeam/openrouter-examples/issues/74 (2026-05-06), https://github.com/cline/cline/issues/5098 (2025-07-22)',
  },
  {
    host: 'web servers and frameworks',
    words: ['not found$', '404 page not found', '404 not found', 'invalid url \\('],
    source: 'FastAPI, Go net/http, nginx, OpenAI; read 2026-11-22',
  },
];

const OF_ACCOUNT: readonly Recognizer[] = [
  {
    host: 'OpenAI and compatible hosts',
    codes: ['invalid_api_key', 'insufficient_quota', 'billing_not_active', 'account_deactivated'],
    source: 'https://platform.openai.com/docs/guides/error-codes (2026-11-22); invalid_api_key recorded',
  },
  {
    host: 'OpenAI',
    codes: ['billing_hard_limit_reached'],
    words: ['billing hard limit has been reached'],
    source: 'https://github.com/dfinke/PowerShellAI/issues/127 (2023-05-02)',
  },
  { host: 'OpenAI, xAI', words: ['(?:incorrect|invalid) api key\\b'], source: RECORDED },
  {
    host: 'Anthropic',
    codes: ['authentication_error', 'permission_error', 'billing_error'],
    source: 'https://docs.claude.com/en/api/errors (2026-11-22); authentication_error recorded',
  },
  { host: 'Anthropic', words: ['your credit balance is too low'], source: RECORDED },
  {
    host: 'Anthropic',
    words: ['you have reached your specified api usage limits'],
    source: 'https://github.com/anthropics/claude-code/issues/38035 (2026-03-24)',
  },
  {
    host: 'Anthropic',
    words: ['this organization has been disabled'],
    source: 'https://github.com/anthropics/claude-code/issues/72457 (2026-06-30)',
  },
  {
    host: 'Gemini',
    // `FAILED_PRECONDITION` is a region or a bill, in a 400.
    codes: ['UNAUTHENTICATED', 'PERMISSION_DENIED', 'FAILED_PRECONDITION', 'API_KEY_INVALID'],
    words: ['api key not valid'],
    source: 'https://ai.google.dev/gemini-api/docs/troubleshooting (2026-11-22); api key not valid recorded',
  },
  {
    host: 'Gemini',
    words: ['api key expired'],
    source: 'https://github.com/google-gemini/gemini-cli/issues/4430 (2025-07-18)',
  },
  {
    host: 'xAI',
    words: ['your team \\S+ has either used all available credits'],
    source: 'https://github.com/continuedev/continue/issues/10373 (2026-02-09)',
  },
  {
    host: 'Groq',
    codes: ['organization_restricted'],
    words: ['organization has been restricted'],
    source: 'https://github.com/songquanpeng/one-api/issues/1764 (2024-08-24)',
  },
  {
    host: 'Moonshot',
    codes: ['exceeded_current_quota_error'],
    words: ['your account [^.]{0,120} is suspended due to insufficient balance'],
    source: 'https://github.com/continuedev/continue/issues/11443 (2026-03-14)',
  },
  {
    host: 'Alibaba',
    codes: ['Arrearage'],
    words: ['access denied, please make sure your account is in good standing'],
    source: 'https://github.com/tencentmusic/supersonic/issues/1572 (2024-08-16)',
  },
  {
    host: 'Z.ai',
    // A balance, a locked account or an expired plan, in a 429.
    codes: ['1110', '1111', '1112', '1113', '1121', '1309'],
    source: ZAI,
  },
  {
    host: 'Cloudflare',
    // A 429 until the next day.
    words: ['(?:[a-z]{1,20}: )?(?:\\d{4}: )?you have used up your daily free allocation'],
    source: 'https://github.com/diegosouzapw/OmniRoute/issues/6980 (2026-07-12)',
  },
  {
    host: 'DeepSeek',
    words: ['insufficient balance'],
    source: 'https://api-docs.deepseek.com/quick_start/error_codes (2026-11-22)',
  },
  {
    host: 'Amazon Bedrock',
    codes: [
      'AccessDeniedException',
      'UnrecognizedClientException',
      'ExpiredTokenException',
      'InvalidSignatureException',
      'MissingAuthenticationToken',
    ],
    source: 'https://docs.aws.amazon.com/bedrock/latest/APIReference/CommonErrors.html (2026-11-22)',
  },
  {
    host: 'Fireworks',
    // A 412.
    words: ['account \\S{1,100} is suspended'],
    source: 'https://github.com/pollinations/pollinations/issues/12136 (2026-07-01)',
  },
  {
    host: 'AWS',
    codes: ['ExpiredToken', 'InvalidClientTokenId', 'SignatureDoesNotMatch', 'IncompleteSignature'],
    source: 'https://docs.aws.amazon.com/bedrock/latest/APIReference/CommonErrors.html (2026-11-22)',
  },
];

const OF_RATE: readonly Recognizer[] = [
  {
    host: 'OpenAI, Anthropic',
    codes: ['rate_limit_error', 'rate_limit_exceeded'],
    words: ['rate limit (?:reached|exceeded)\\b', 'too many requests\\b'],
    source: RECORDED,
  },
  {
    host: 'Moonshot',
    codes: ['rate_limit_reached_error'],
    source: 'https://github.com/harry0703/MoneyPrinterTurbo/issues/339 (2024-05-06)',
  },
  {
    host: 'Alibaba',
    codes: ['limit_requests', 'limit_burst_rate', 'Throttling.RateQuota', 'Throttling.AllocationQuota'],
    // Tokens per minute, although the code is `insufficient_quota`.
    words: ['allocated quota exceeded', '[^#]{0,300}help\\.aliyun\\.com[^ ]{0,100}#token-limit'],
    source:
      'https://help.aliyun.com/en/model-studio/rate-limit (2026-11-23), https://github.com/anomalyco/opencode/issues/23722 (2026-04-21)',
  },
  { host: 'Z.ai', codes: ['1302', '1303', '1304', '1305', '1308', '1310', '1313'], source: ZAI },
  {
    host: 'Google',
    codes: ['RESOURCE_EXHAUSTED'],
    source: 'https://ai.google.dev/gemini-api/docs/troubleshooting (2026-11-22)',
  },
  {
    host: 'Amazon Bedrock',
    codes: ['ThrottlingException', 'throttlingException', 'ServiceQuotaExceededException', 'TooManyRequestsException'],
    source: 'https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html (2026-11-22)',
  },
];

const OF_LOAD: readonly Recognizer[] = [
  { host: 'Anthropic', codes: ['overloaded_error'], source: 'https://docs.claude.com/en/api/errors (2026-11-22)' },
  {
    host: 'Groq',
    // A 498.
    codes: ['capacity_exceeded'],
    source: 'https://console.groq.com/docs/flex-processing (2026-11-23)',
  },
  { host: 'Z.ai', codes: ['1312'], source: ZAI },
  {
    host: 'Google',
    codes: ['UNAVAILABLE'],
    source: 'https://ai.google.dev/gemini-api/docs/troubleshooting (2026-11-22)',
  },
  {
    host: 'Moonshot',
    // A 429, whatever the account has left.
    codes: ['engine_overloaded_error'],
    source: 'https://github.com/MoonshotAI/MoonshotAI-Cookbook/issues/16 (2024-04-09)',
  },
  {
    host: 'Amazon Bedrock',
    codes: ['ModelNotReadyException'],
    source: 'https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html (2026-11-22)',
  },
  {
    host: 'llama.cpp',
    words: ['loading model$'],
    source: 'https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md (2026-11-22)',
  },
];

const OF_FAULT: readonly Recognizer[] = [
  {
    host: 'Groq',
    // The model wrote a call or an object that does not parse: a 400 that no caller can prevent.
    codes: ['tool_use_failed', 'json_validate_failed'],
    source: 'https://github.com/groq/groq-typescript/issues/28 (2024-05-12)',
  },
];

const OF_TIME: readonly Recognizer[] = [
  { host: 'Anthropic', codes: ['timeout_error'], source: 'https://docs.claude.com/en/api/errors (2026-11-22)' },
];

const BY_MEANING: ReadonlyArray<readonly [Meaning, readonly Recognizer[]]> = [
  [400, OF_CONTENT],
  ['model', OF_MODEL],
  ['account', OF_ACCOUNT],
  [429, OF_RATE],
  [529, OF_LOAD],
  [500, OF_FAULT],
  [504, OF_TIME],
];

const ROWS = BY_MEANING.flatMap(([means, rows]) => rows.map((row) => ({ ...row, means })));
const BY_CODE: ReadonlyMap<string, Meaning> = new Map(
  ROWS.flatMap(({ codes = [], means }) => codes.map((code) => [code, means] as const)),
);
const BY_WORDS = ROWS.flatMap(({ words = [], means }) =>
  words.map((text) => ({ pattern: new RegExp(`^${text}`, 'i'), means })),
);
const WORDS_CHARS_MAX = 500;

/**
 * What an error means by the start of its message, else by its code (`error.code`, else `error.type`): trouble of the
 * operator, or the status that says what happened; null: its own status does. Words are more exact than codes: a code of
 * a rate comes with words about a balance, and Google's code of a missing permission with words about one model.
 */
export function readMeaning(message: string, code: string | null): Meaning | null {
  const words = message.slice(0, WORDS_CHARS_MAX);
  const byWords = BY_WORDS.find(({ pattern }) => pattern.test(words))?.means;
  return byWords ?? (code === null ? undefined : BY_CODE.get(code)) ?? null;
}

/** The account or model problem that an error reports; null if none. */
export function readAccountTrouble(message: string, code: string | null): AccountTrouble | null {
  const meaning = readMeaning(message, code);
  return typeof meaning === 'string' ? meaning : null;
}
