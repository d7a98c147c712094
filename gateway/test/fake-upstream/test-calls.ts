/** Renders the two calls of the rig's own tests, as raw bytes. */
import { rawRequest } from './raw-client.ts';

const messages = [{ role: 'user', content: 'Good day' }];

/** A chat completions call of a model. */
export function chatCall(model: string, more: Readonly<Record<string, unknown>> = {}): Uint8Array {
  return rawRequest('POST', '/v1/chat/completions', JSON.stringify({ model, messages, ...more }));
}

/** A messages call of a model. */
export function messagesCall(model: string, more: Readonly<Record<string, unknown>> = {}): Uint8Array {
  const body = JSON.stringify({ model, max_tokens: 100, messages, ...more });
  return rawRequest('POST', '/v1/messages', body, { 'anthropic-version': '2023-06-01' });
}
