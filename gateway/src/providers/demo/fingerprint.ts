/** Owns what is derived from a call's bytes: its ids, its opaque signature, its input token count. Keeps no secret. */
import { isObject } from './json-value.ts';

const ENCODER = new TextEncoder();

export interface Fingerprint {
  /** Tokens of what the model reads: the conversation, the system prompt and the tools. */
  readonly inputTokens: number;
  /** The same label always gives the same id; `length` hexadecimal characters after the prefix. */
  id(prefix: string, label: string, length?: number): string;
  /** Opaque text in base64, as signatures of thinking look like. */
  signature(text: string): string;
}

/** The demo model's token: four bytes of UTF-8, rounded up. */
export function countTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text, 'utf8') / 4);
}

export function encodeText(text: string): Uint8Array<ArrayBuffer> {
  return ENCODER.encode(text);
}

/**
 * Reads the body once: what the model reads is counted, everything is hashed together with the request id, save how the
 * answer is to be delivered: a streamed answer folds into the very answer that comes in one piece.
 */
export function fingerprintCall(body: unknown, requestId: string): Fingerprint {
  const { messages, system, tools, stream: _, stream_options: __, ...rest } = isObject(body) ? body : {};
  const parts = [messages, system, tools].map((part) => (part === undefined ? '' : JSON.stringify(part)));
  const inputBytes = parts.reduce((sum, part) => sum + Buffer.byteLength(part, 'utf8'), 0);
  const hash = new Bun.CryptoHasher('sha256');
  for (const part of [requestId, JSON.stringify(rest), ...parts]) hash.update(`${part}\n`);
  const seed = hash.digest('hex');
  return {
    inputTokens: Math.ceil(inputBytes / 4),
    id: (prefix, label, length = 24) => {
      const digest = new Bun.CryptoHasher('sha256').update(`${seed}/${label}`).digest('hex');
      return prefix + digest.slice(0, length);
    },
    signature: (text) => new Bun.CryptoHasher('sha512').update(`${seed}/${text}`).digest('base64'),
  };
}
