/** Lists the wire formats. The only source of their names and of the types of the names. */

interface Row {
  readonly title: string;
  /** A client calls providers in the formats of its own family: by translation, or by a form of the same request. */
  readonly family: 'generation' | 'embeddings' | 'completions' | 'moderations' | 'rerank' | 'audio' | 'images';
  /** Clients may call the gateway in this format. */
  readonly client: boolean;
  /** The gateway may call a provider in this format. */
  readonly upstream: boolean;
}

export const PROTOCOLS = {
  chat: { title: 'Chat completions', family: 'generation', client: true, upstream: true },
  messages: { title: 'Messages', family: 'generation', client: true, upstream: true },
  responses: { title: 'Responses', family: 'generation', client: true, upstream: true },
  gemini: { title: 'Gemini', family: 'generation', client: true, upstream: true },
  converse: { title: 'Bedrock Converse', family: 'generation', client: false, upstream: true },
  embeddings: { title: 'Embeddings', family: 'embeddings', client: true, upstream: true },
  completions: { title: 'Completions (legacy)', family: 'completions', client: true, upstream: true },
  moderations: { title: 'Moderations', family: 'moderations', client: true, upstream: true },
  voyage_embeddings: { title: 'Voyage Embeddings', family: 'embeddings', client: false, upstream: true },
  cohere_embeddings: { title: 'Cohere Embed', family: 'embeddings', client: false, upstream: true },
  gemini_embeddings: { title: 'Gemini batchEmbedContents', family: 'embeddings', client: false, upstream: true },
  rerank: { title: 'Rerank', family: 'rerank', client: true, upstream: true },
  images: { title: 'Images', family: 'images', client: true, upstream: true },
  audio: { title: 'Audio', family: 'audio', client: true, upstream: true },
  cohere_rerank: { title: 'Cohere Rerank', family: 'rerank', client: false, upstream: true },
  voyage_rerank: { title: 'Voyage Rerank', family: 'rerank', client: false, upstream: true },
} as const satisfies Readonly<Record<string, Row>>;

type ProtocolName = keyof typeof PROTOCOLS;
export type ProtocolFamily = Row['family'];

type NamesWith<Half extends 'client' | 'upstream'> = {
  [Name in ProtocolName]: (typeof PROTOCOLS)[Name][Half] extends true ? Name : never;
}[ProtocolName];

type GenerationName = {
  [Name in ProtocolName]: (typeof PROTOCOLS)[Name]['family'] extends 'generation' ? Name : never;
}[ProtocolName];

export type ClientProtocolName = NamesWith<'client'>;
export type UpstreamProtocolName = NamesWith<'upstream'>;

/** The formats of generated answers, which are translated into each other. */
export type GenerationClientName = ClientProtocolName & GenerationName;
export type GenerationUpstreamName = UpstreamProtocolName & GenerationName;

export const CLIENT_PROTOCOL_NAMES: readonly ClientProtocolName[] = Object.entries(PROTOCOLS).flatMap(([name, row]) =>
  row.client ? [name as ClientProtocolName] : [],
);

/** A value for each format that clients use. */
export function forClientProtocols<Value>(choose: (name: ClientProtocolName) => Value) {
  const rows = CLIENT_PROTOCOL_NAMES.map((name) => [name, choose(name)] as const);
  return Object.fromEntries(rows) as { readonly [name in ClientProtocolName]: Value };
}

/** The formats of generated answers that clients use. */
export const GENERATED_PROTOCOLS: ReadonlySet<string> = new Set(CLIENT_PROTOCOL_NAMES.filter(isGenerationClient));

/** What the record of a call says: its client's format, or `batches` for requests that the provider answers later. */
export type RecordedProtocol = ClientProtocolName | 'batches';

export const RECORDED_PROTOCOLS: readonly RecordedProtocol[] = [...CLIENT_PROTOCOL_NAMES, 'batches'];

/** Whether clients call the gateway in the format for generated answers. */
export function isGenerationClient(name: ProtocolName): name is GenerationClientName {
  return PROTOCOLS[name].client && PROTOCOLS[name].family === 'generation';
}

/** The format to suggest, and to use where nothing says which one the client uses. */
export const DEFAULT_PROTOCOL: ClientProtocolName = 'chat';

/** Whether a host that speaks these formats reads the client's bytes as they are. */
export function speaks(spoken: readonly UpstreamProtocolName[], client: ClientProtocolName): boolean {
  return (spoken as readonly string[]).includes(client);
}
