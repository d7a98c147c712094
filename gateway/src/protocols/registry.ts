/** Lists the wire formats by name. */
import { chatCompletions } from './chat/index.ts';
import { messages } from './messages/index.ts';
import type { Protocol, ProtocolName } from './protocol.ts';

export const PROTOCOLS: { readonly [name in ProtocolName]: Protocol } = { chat: chatCompletions, messages };
