/** Provides the kinds that speak Anthropic's messages: its own host's, and that of hosts that imitate it. */
import { SSE } from '../../framing/sse-decoder.ts';
import { asObject } from '../../protocols/json.ts';
import type { RemoteKind } from '../provider.ts';
import { NO_QUIRKS } from '../quirks.ts';
import { API_KEY, compatibleTraits, FILES, missingSecrets } from './openai-compatible.ts';

const OBJECT_PATHS = { files: '/files', batches: '/messages/batches', conversations: null } as const;

export const anthropic: RemoteKind = {
  name: 'anthropic',
  title: 'Anthropic',
  speaks: 'messages',
  protocols: ['messages'],
  quirks: NO_QUIRKS,
  takes: ['base_url', 'timeouts'],
  secrets: [API_KEY],
  settings: [FILES],
  objects: { format: 'messages', pathOf: (collection) => OBJECT_PATHS[collection] },
  framing: () => SSE,
  checkConfig: (given) => missingSecrets([API_KEY], given),
  chatTraits: compatibleTraits,
  vendorHost: 'api.anthropic.com',
  local: null,
  // Anthropic's own SDK takes addresses without the version, other clients with it: both are accepted.
  completeBaseUrl: (url) => (url.endsWith('/v1') ? url : `${url}/v1`),
  endpoint: (_protocol, operation) => (operation === 'count_tokens' ? '/messages/count_tokens' : '/messages'),
  // https://docs.claude.com/en/api/models-list (2026-11-22)
  listing: {
    path: '/models?limit=1000',
    headers: [['anthropic-version', '2023-06-01']],
    next(page) {
      const { has_more, last_id } = asObject(page) ?? {};
      return has_more === true ? ['after_id', last_id] : null;
    },
  },
  headers: ({ api_key }) => (api_key === undefined ? [] : [['x-api-key', api_key.reveal()]]),
};

/**
 * Takes a bearer token, as the tools for Anthropic's format send it. Such hosts ignore betas, and most of them run no
 * server tools and count no tokens.
 */
export const anthropicCompatible: RemoteKind = {
  ...anthropic,
  name: 'anthropic-compatible',
  title: 'Another host, Anthropic-compatible',
  takes: ['preset', 'base_url', 'timeouts'],
  settings: [],
  checkConfig: (given) => (given.preset?.credentialVariables.length ? missingSecrets([API_KEY], given) : []),
  endpoint: (_protocol, operation) => (operation === 'count_tokens' ? null : '/messages'),
  headers: ({ api_key }) => (api_key === undefined ? [] : [['authorization', `Bearer ${api_key.reveal()}`]]),
};
