/**
 * Recognizes upstream errors caused by the operator's own account or configuration, by code and message: providers
 * report them with statuses that blame the caller. Phrases must match at the start of the message, so that quoted
 * caller text never matches.
 */

/** `account`: credential, balance, quota, organization. `model`: configured model, deployment or address not found. */
export type AccountTrouble = 'account' | 'model';

interface Recognizer {
  readonly trouble: AccountTrouble;
  /** Exact values of `error.code`, else `error.type`. */
  readonly codes?: readonly string[];
  /** Patterns for the start of the message. */
  readonly words?: readonly string[];
  readonly host: string;
  /** The source and its date; `recorded`: seen in real traffic. */
  readonly source: string;
}

const RECORDED = 'recorded, read 2026-11-22';

/** Checked from the top; the codes and words of a row are alternatives. */
const RECOGNIZERS: readonly Recognizer[] = [
  {
    trouble: 'account',
    host: 'OpenAI and compatible hosts',
    codes: ['invalid_api_key', 'insufficient_quota', 'billing_not_active', 'account_deactivated'],
    source: 'https://platform.openai.com/docs/guides/error-codes (2026-11-22); invalid_api_key recorded',
  },
  {
    trouble: 'account',
    host: 'OpenAI',
    codes: ['billing_hard_limit_reached'],
    words: ['billing hard limit has been reached'],
    source: 'https://github.com/dfinke/PowerShellAI/issues/127 (2023-05-02)',
  },
  { trouble: 'account', host: 'OpenAI, xAI', words: ['(?:incorrect|invalid) api key\\b'], source: RECORDED },
  {
    trouble: 'account',
    host: 'Anthropic',
    codes: ['authentication_error', 'permission_error', 'billing_error'],
    source: 'https://docs.claude.com/en/api/errors (2026-11-22); authentication_error recorded',
  },
  { trouble: 'account', host: 'Anthropic', words: ['your credit balance is too low'], source: RECORDED },
  {
    trouble: 'account',
    host: 'Anthropic',
    words: ['you have reached your specified api usage limits'],
    source: 'https://github.com/anthropics/claude-code/issues/38035 (2026-03-24)',
  },
  {
    trouble: 'account',
    host: 'Anthropic',
    words: ['this organization has been disabled'],
    source: 'https://github.com/anthropics/claude-code/issues/72457 (2026-06-30)',
  },
  { trouble: 'account', host: 'Gemini', words: ['api key not valid'], source: RECORDED },
  {
    trouble: 'account',
    host: 'Gemini',
    words: ['api key expired'],
    source: 'https://github.com/google-gemini/gemini-cli/issues/4430 (2025-07-18)',
  },
  {
    trouble: 'account',
    host: 'xAI',
    words: ['your team \\S+ has either used all available credits'],
    source: 'https://github.com/continuedev/continue/issues/10373 (2026-02-09)',
  },
  {
    trouble: 'account',
    host: 'Groq',
    codes: ['organization_restricted'],
    words: ['organization has been restricted'],
    source: 'https://github.com/songquanpeng/one-api/issues/1764 (2024-08-24)',
  },
  {
    trouble: 'account',
    host: 'Moonshot',
    codes: ['exceeded_current_quota_error'],
    words: ['your account [^.]{0,120} is suspended due to insufficient balance'],
    source: 'https://github.com/continuedev/continue/issues/11443 (2026-03-14)',
  },
  {
    trouble: 'account',
    host: 'Alibaba',
    codes: ['Arrearage'],
    words: ['access denied, please make sure your account is in good standing'],
    source: 'https://github.com/tencentmusic/supersonic/issues/1572 (2024-08-16)',
  },
  {
    trouble: 'account',
    host: 'DeepSeek',
    words: ['insufficient balance'],
    source: 'https://api-docs.deepseek.com/quick_start/error_codes (2026-11-22)',
  },
  {
    trouble: 'account',
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
    trouble: 'model',
    host: 'OpenAI, Groq, vLLM',
    codes: ['model_not_found'],
    words: ['the (?:requested )?model [`\'"][^`\'"]{1,300}[`\'"] does not exist', 'this is not a chat model'],
    source: RECORDED,
  },
  {
    trouble: 'model',
    host: 'Azure',
    codes: ['DeploymentNotFound'],
    words: ['the api deployment for this resource does not exist', 'resource not found$'],
    source: RECORDED,
  },
  { trouble: 'model', host: 'Anthropic', words: ['model: \\S{1,300}$'], source: RECORDED },
  { trouble: 'model', host: 'Gemini', words: ['models/\\S{1,300} is not found for api version'], source: RECORDED },
  { trouble: 'model', host: 'Vertex', words: ['publisher model `[^`]{1,300}` not found'], source: RECORDED },
  {
    trouble: 'model',
    host: 'Ollama',
    words: ['model [\'"][^\'"]{1,300}[\'"] not found'],
    source: 'https://github.com/ollama/ollama/blob/main/docs/api.md (2026-11-22)',
  },
  {
    trouble: 'model',
    host: 'web servers and frameworks',
    words: ['not found$', '404 page not found', '404 not found', 'invalid url \\('],
    source: 'FastAPI, Go net/http, nginx, OpenAI; read 2026-11-22',
  },
];

const BY_CODE: ReadonlyMap<string, AccountTrouble> = new Map(
  RECOGNIZERS.flatMap(({ codes = [], trouble }) => codes.map((code) => [code, trouble] as const)),
);
const BY_WORDS = RECOGNIZERS.flatMap(({ words = [], trouble }) =>
  words.map((text) => ({ pattern: new RegExp(`^${text}`, 'i'), trouble })),
);
const WORDS_CHARS_MAX = 500;

/** The account or model problem that an error reports; null if none. `code` is `error.code`, else `error.type`. */
export function readAccountTrouble(message: string, code: string | null): AccountTrouble | null {
  const byCode = code === null ? undefined : BY_CODE.get(code);
  if (byCode !== undefined) return byCode;
  const words = message.slice(0, WORDS_CHARS_MAX);
  return BY_WORDS.find(({ pattern }) => pattern.test(words))?.trouble ?? null;
}
