/** Lists the wire formats. The only source of their names and of the types of the names. */

interface Row {
  readonly title: string;
  /** Clients may call the gateway in this format. */
  readonly client: boolean;
  /** The gateway may call a provider in this format. */
  readonly upstream: boolean;
}

export const PROTOCOLS = {
  chat: { title: 'Chat completions', client: true, upstream: true },
  messages: { title: 'Messages', client: true, upstream: true },
  responses: { title: 'Responses', client: true, upstream: true },
  gemini: { title: 'Gemini generateContent', client: false, upstream: true },
  converse: { title: 'Bedrock Converse', client: false, upstream: true },
} as const satisfies Readonly<Record<string, Row>>;

type NamesWith<Half extends 'client' | 'upstream'> = {
  [Name in keyof typeof PROTOCOLS]: (typeof PROTOCOLS)[Name][Half] extends true ? Name : never;
}[keyof typeof PROTOCOLS];

export type ClientProtocolName = NamesWith<'client'>;
export type UpstreamProtocolName = NamesWith<'upstream'>;

export const CLIENT_PROTOCOL_NAMES: readonly ClientProtocolName[] = Object.entries(PROTOCOLS).flatMap(([name, row]) =>
  row.client ? [name as ClientProtocolName] : [],
);

/** Whether clients call the gateway in the format. */
export function hasClients(name: string): name is ClientProtocolName {
  return (CLIENT_PROTOCOL_NAMES as readonly string[]).includes(name);
}

/** The format to suggest, and to use where nothing says which one the client uses. */
export const DEFAULT_PROTOCOL: ClientProtocolName = 'chat';

/** Whether a host that speaks these formats reads the client's bytes as they are. */
export function speaks(spoken: readonly UpstreamProtocolName[], client: ClientProtocolName): boolean {
  return (spoken as readonly string[]).includes(client);
}
