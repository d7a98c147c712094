/** Lists the halves of the wire formats by name. */
import { audioClient, transcriptionClient, translationClient } from './audio/client/client-protocol.ts';
import { audioUpstream } from './audio/upstream/upstream-protocol.ts';
import { chatClient } from './chat/client/client-protocol.ts';
import { chatUpstream } from './chat/upstream/upstream-protocol.ts';
import type { ClientProtocol, DirectClient, GenerationClient } from './client-protocol.ts';
import { completionsClient } from './completions/client/client-protocol.ts';
import { completionsUpstream } from './completions/upstream/upstream-protocol.ts';
import { converseUpstream } from './converse/upstream/upstream-protocol.ts';
import { embeddingsClient } from './embeddings/client/client-protocol.ts';
import { cohereEmbeddingsUpstream } from './embeddings/upstream/cohere.ts';
import { geminiEmbeddingsUpstream } from './embeddings/upstream/gemini.ts';
import { embeddingsUpstream } from './embeddings/upstream/upstream-protocol.ts';
import { voyageEmbeddingsUpstream } from './embeddings/upstream/voyage.ts';
import { geminiClient } from './gemini/client/client-protocol.ts';
import { geminiUpstream } from './gemini/upstream/upstream-protocol.ts';
import { imageEditClient, imagesClient, imageVariationClient } from './images/client/client-protocol.ts';
import { imagesUpstream } from './images/upstream/upstream-protocol.ts';
import { messagesClient } from './messages/client/client-protocol.ts';
import { messagesUpstream } from './messages/upstream/upstream-protocol.ts';
import { moderationsClient } from './moderations/client/client-protocol.ts';
import { moderationsUpstream } from './moderations/upstream/upstream-protocol.ts';
import {
  type ClientProtocolName,
  forClientProtocols,
  type GenerationClientName,
  type GenerationUpstreamName,
  PROTOCOLS,
  type UpstreamProtocolName,
} from './names.ts';
import { rerankClient } from './rerank/client/client-protocol.ts';
import { cohereRerankUpstream, rerankUpstream, voyageRerankUpstream } from './rerank/upstream/upstream-protocol.ts';
import { responsesClient } from './responses/client/client-protocol.ts';
import { compactionClient } from './responses/client/compaction-client.ts';
import { responsesUpstream } from './responses/upstream/upstream-protocol.ts';
import type { DirectUpstream, GenerationUpstream, UpstreamProtocol } from './upstream-protocol.ts';

export const CLIENT_PROTOCOLS: { readonly [name in GenerationClientName]: GenerationClient } & {
  readonly [name in Exclude<ClientProtocolName, GenerationClientName>]: DirectClient;
} = {
  chat: chatClient,
  messages: messagesClient,
  responses: responsesClient,
  gemini: geminiClient,
  embeddings: embeddingsClient,
  completions: completionsClient,
  moderations: moderationsClient,
  rerank: rerankClient,
  images: imagesClient,
  audio: audioClient,
};

/** All client halves; those with endpoints below a format's own have its name. */
export const CLIENTS: readonly ClientProtocol[] = [
  ...Object.values(CLIENT_PROTOCOLS),
  compactionClient,
  imageEditClient,
  imageVariationClient,
  transcriptionClient,
  translationClient,
];

export const UPSTREAM_PROTOCOLS: { readonly [name in GenerationUpstreamName]: GenerationUpstream } & {
  readonly [name in Exclude<UpstreamProtocolName, GenerationUpstreamName>]: DirectUpstream;
} = {
  chat: chatUpstream,
  messages: messagesUpstream,
  responses: responsesUpstream,
  gemini: geminiUpstream,
  converse: converseUpstream,
  embeddings: embeddingsUpstream,
  voyage_embeddings: voyageEmbeddingsUpstream,
  cohere_embeddings: cohereEmbeddingsUpstream,
  gemini_embeddings: geminiEmbeddingsUpstream,
  completions: completionsUpstream,
  moderations: moderationsUpstream,
  rerank: rerankUpstream,
  cohere_rerank: cohereRerankUpstream,
  voyage_rerank: voyageRerankUpstream,
  images: imagesUpstream,
  audio: audioUpstream,
};

/** The format of calls to one host, by the client's; null: the host speaks none of the family. */
export type UpstreamProtocols = { readonly [client in ClientProtocolName]: UpstreamProtocol | null };

/** The half that providers use of a format that clients use; null: it has none. */
export function upstreamHalfOf(client: ClientProtocolName): UpstreamProtocol | null {
  return (UPSTREAM_PROTOCOLS as { readonly [name: string]: UpstreamProtocol })[client] ?? null;
}

/** For each client format, the format of calls to a host: the client's own if the host speaks it, else its family's first. */
export function chooseUpstreamProtocols(spoken: readonly UpstreamProtocolName[]): UpstreamProtocols {
  if (spoken.length === 0) throw new Error('a provider speaks at least one format');
  const choose = (client: ClientProtocolName): UpstreamProtocol | null => {
    const own = upstreamHalfOf(client);
    if (own !== null && spoken.includes(own.name)) return own;
    const other = spoken.find((name) => PROTOCOLS[name].family === PROTOCOLS[client].family);
    return other === undefined ? null : UPSTREAM_PROTOCOLS[other];
  };
  return forClientProtocols(choose);
}
