/** Lists the halves of the wire formats by name. */
import { chatClient } from './chat/client/client-protocol.ts';
import { chatUpstream } from './chat/upstream/upstream-protocol.ts';
import type { ClientProtocol } from './client-protocol.ts';
import { converseUpstream } from './converse/upstream/upstream-protocol.ts';
import { geminiUpstream } from './gemini/upstream/upstream-protocol.ts';
import { messagesClient } from './messages/client/client-protocol.ts';
import { messagesUpstream } from './messages/upstream/upstream-protocol.ts';
import { CLIENT_PROTOCOL_NAMES, type ClientProtocolName, type UpstreamProtocolName } from './names.ts';
import { responsesClient } from './responses/client/client-protocol.ts';
import { responsesUpstream } from './responses/upstream/upstream-protocol.ts';
import type { UpstreamProtocol } from './upstream-protocol.ts';

export const CLIENT_PROTOCOLS: { readonly [name in ClientProtocolName]: ClientProtocol } = {
  chat: chatClient,
  messages: messagesClient,
  responses: responsesClient,
};

export const UPSTREAM_PROTOCOLS: { readonly [name in UpstreamProtocolName]: UpstreamProtocol } = {
  chat: chatUpstream,
  messages: messagesUpstream,
  responses: responsesUpstream,
  gemini: geminiUpstream,
  converse: converseUpstream,
};

/** The format of calls to one host, by the client's. */
export type UpstreamProtocols = { readonly [client in ClientProtocolName]: UpstreamProtocol };

/** The half that providers use of a format that clients use; null: it has none. */
export function upstreamHalfOf(client: ClientProtocolName): UpstreamProtocol | null {
  return (UPSTREAM_PROTOCOLS as { readonly [name: string]: UpstreamProtocol })[client] ?? null;
}

/** For each client format, the format of calls to a host: the client's own if the host speaks it, else its first. */
export function chooseUpstreamProtocols(spoken: readonly UpstreamProtocolName[]): UpstreamProtocols {
  const [first] = spoken;
  if (first === undefined) throw new Error('a provider speaks at least one format');
  const choose = (client: ClientProtocolName) => {
    const own = upstreamHalfOf(client);
    return own !== null && spoken.includes(own.name) ? own : UPSTREAM_PROTOCOLS[first];
  };
  return Object.fromEntries(CLIENT_PROTOCOL_NAMES.map((name) => [name, choose(name)])) as UpstreamProtocols;
}
