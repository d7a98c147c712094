/** Defines the paths of a protocol's calls at an upstream, after its base address. */

export type Endpoint = 'chat/completions' | 'messages' | 'messages/count_tokens';

export function endpointOf(protocol: 'chat' | 'messages', countOnly: boolean): Endpoint {
  if (protocol === 'chat') return 'chat/completions';
  return countOnly ? 'messages/count_tokens' : 'messages';
}
