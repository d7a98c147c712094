/**
 * Provides the kind `openai-compatible`: any host that speaks chat completions and takes a bearer token. Guesses about
 * unknown hosts are limited to those that do no harm when wrong. And `cohere`, which has formats of its own beside them.
 */
import { SSE } from '../../framing/sse-decoder.ts';
import { OPENAI_DIRECT, OPENAI_PATHS } from '../../protocols/model-formats.ts';
import type { UpstreamProtocolName } from '../../protocols/names.ts';
import type { ChatTraits } from '../../protocols/upstream-traits.ts';
import type { GivenProvider, MemberFault, RemoteKind, SecretMember, SettingMember } from '../provider.ts';
import { type ChatQuirks, NO_QUIRKS } from '../quirks.ts';

/** What a provider that only claims compatibility can be trusted with. */
export const COMPATIBLE: ChatTraits = {
  outputLimitMember: 'max_tokens',
  systemRole: 'system',
  strictTurns: false,
  answersResults: false,
  sampling: true,
  top_k: true,
  efforts: null,
  thinkingSwitch: 'none',
  forcedWhileReasoning: true,
  thinkTags: false,
  stopMax: 16,
  toolIds: 'any',
  mediaInToolMessages: false,
  files: false,
  prefill: 'plain',
  cacheMarks: false,
  reasoningInHistory: null,
  unreasonedRefused: 'none',
  nullContent: true,
  openaiMembers: false,
  parallelToolCalls: true,
  namedToolChoice: true,
  strictSchemas: false,
  plainSchemas: false,
  usageOption: true,
};

/**
 * Only a model known to reason is sent an effort: others answer 400 to the member (Groq, Mistral, Ollama, DeepSeek).
 */
export function compatibleTraits(quirks: ChatQuirks, model: string, reasons: boolean | null): ChatTraits {
  const { effortsOf = [], withoutSwitch, ...others } = quirks;
  const known = effortsOf.find(([name]) => name.test(model))?.[1] ?? null;
  const switchless = withoutSwitch?.test(model) ? ({ thinkingSwitch: 'none' } as const) : {};
  return { ...COMPATIBLE, ...others, ...switchless, efforts: reasons === true ? known : [] };
}

export const API_KEY: SecretMember = {
  name: 'api_key',
  title: 'API key',
  description:
    'Its credential, sent to the origin of `base_url` only; preferably from a variable. `none`: no credential, the default for a provider of your own.',
  mayBeNone: true,
};

/** Opens the routes of files and batches to clients. */
export const FILES: SettingMember = {
  name: 'files',
  title: 'Files',
  description:
    '`on`: keys may upload files to it (`/v1/files`) and send it batches (`/v1/batches`, `/v1/messages/batches`), which it keeps under your account; each belongs to the workspace that created it. Default: `off`.',
  pattern: /^(?:off|on)$/,
  expected: 'on or off',
  hint: 'On: clients may upload files and send batches, which the provider keeps under your account.',
  options: ['off', 'on'],
};

/** A fault for each of the secrets that is not given. */
export function missingSecrets(secrets: readonly SecretMember[], given: GivenProvider): readonly MemberFault[] {
  return secrets.flatMap(({ name, mayBeNone }) => {
    if (given.secrets[name] !== undefined || (mayBeNone && given.members.has(name))) return [];
    const none = mayBeNone ? `, or ${name}: none` : '';
    const variable = given.preset?.credentialVariables[0] ?? name.toUpperCase();
    return {
      member: name,
      found: `no ${name}`,
      expected: mayBeNone ? 'a credential, or none' : 'a credential',
      advice: `Add ${name}: \${${variable}}${none}.`,
    };
  });
}

export const openaiCompatible: RemoteKind = {
  name: 'openai-compatible',
  title: 'Another host, OpenAI-compatible',
  speaks: 'chat completions',
  protocols: ['chat', ...OPENAI_DIRECT, 'rerank'],
  quirks: NO_QUIRKS,
  takes: ['preset', 'base_url', 'timeouts'],
  secrets: [API_KEY],
  settings: [FILES],
  objects: { format: 'responses', pathOf: (collection) => (collection === 'conversations' ? null : `/${collection}`) },
  framing: () => SSE,
  checkConfig: (given) => (given.preset?.credentialVariables.length ? missingSecrets([API_KEY], given) : []),
  chatTraits: compatibleTraits,
  vendorHost: null,
  local: null,
  completeBaseUrl: (url) => url,
  endpoint(protocol, operation) {
    const path = OPENAI_PATHS[protocol];
    return operation === 'count_tokens' || path === undefined ? null : `/${path}`;
  },
  listing: { path: '/models', headers: [] },
  headers: ({ api_key }) => (api_key === undefined ? [] : [['authorization', `Bearer ${api_key.reveal()}`]]),
};

const COHERE_PATHS: { readonly [protocol in UpstreamProtocolName]?: string } = {
  chat: '/compatibility/v1/chat/completions',
  cohere_embeddings: '/v2/embed',
  cohere_rerank: '/v2/rerank',
};

/**
 * Cohere: chat completions at its compatibility address, embeddings and rankings at its own.
 * https://docs.cohere.com/docs/compatibility-api and https://docs.cohere.com/reference/rerank (2026-11-23).
 */
export const cohere: RemoteKind = {
  ...openaiCompatible,
  name: 'cohere',
  title: 'Cohere',
  speaks: 'chat completions, embeddings and rankings',
  protocols: ['chat', 'cohere_embeddings', 'cohere_rerank'],
  takes: ['base_url', 'timeouts'],
  settings: [],
  checkConfig: (given) => missingSecrets([API_KEY], given),
  // Clients name the host, or one of its versions.
  completeBaseUrl: (url) => url.replace(/\/(?:compatibility\/v1|v1|v2)$/, ''),
  endpoint: (protocol, operation) => (operation === 'count_tokens' ? null : (COHERE_PATHS[protocol] ?? null)),
  listing: { path: '/compatibility/v1/models', headers: [] },
};
