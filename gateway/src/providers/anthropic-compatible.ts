/**
 * Provides the kind `anthropic-compatible`: any host that imitates Anthropic's messages and takes a bearer token, as the
 * tools for Anthropic's format send it. Such hosts ignore betas, and most run no server tools and count no tokens.
 */
import { anthropic } from './anthropic.ts';
import { API_KEY } from './openai-compatible.ts';
import { missingSecrets, type RemoteKind } from './provider.ts';

export const anthropicCompatible: RemoteKind = {
  ...anthropic,
  name: 'anthropic-compatible',
  title: 'Another host, Anthropic-compatible',
  takes: ['preset', 'base_url', 'timeouts'],
  checkConfig: (given) => (given.preset?.credentialVariables.length ? missingSecrets([API_KEY], given) : []),
  endpoint: (_protocol, operation) => (operation === 'count_tokens' ? null : '/messages'),
  headers: ({ api_key }) => (api_key === undefined ? [] : [['authorization', `Bearer ${api_key.reveal()}`]]),
};
