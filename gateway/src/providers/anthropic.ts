/** Provides the kind `anthropic`: Anthropic's messages, at the vendor's host or one that imitates it. */
import { SSE } from '../framing/sse-decoder.ts';
import { API_KEY, compatibleTraits } from './openai-compatible.ts';
import { missingSecrets, type RemoteKind } from './provider.ts';
import { NO_QUIRKS } from './quirks.ts';

export const anthropic: RemoteKind = {
  name: 'anthropic',
  title: 'Anthropic',
  speaks: 'messages',
  protocols: ['messages'],
  quirks: NO_QUIRKS,
  takes: ['base_url', 'timeouts'],
  secrets: [API_KEY],
  settings: [],
  framing: () => SSE,
  checkConfig: (given) => missingSecrets([API_KEY], given),
  chatTraits: compatibleTraits,
  vendorHost: 'api.anthropic.com',
  local: null,
  // Anthropic's own SDK takes addresses without the version, other clients with it: both are accepted.
  completeBaseUrl: (url) => (url.endsWith('/v1') ? url : `${url}/v1`),
  endpoint: (_protocol, operation) => (operation === 'count_tokens' ? '/messages/count_tokens' : '/messages'),
  listing: { path: '/models', headers: [['anthropic-version', '2023-06-01']] },
  headers: ({ api_key }) => (api_key === undefined ? [] : [['x-api-key', api_key.reveal()]]),
};
