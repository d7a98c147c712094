/** Describes one recorded interaction, and the part of its response that a replay sends. Reads no files. */
import { utf8 } from './answer/body-part.ts';

export type RecordedApi =
  | 'openai-chat'
  | 'openai-responses'
  | 'openai-embeddings'
  | 'openai-completions'
  | 'openai-moderations'
  | 'rerank'
  | 'cohere-embed'
  | 'openai-audio'
  | 'openai-images'
  | 'openai-files'
  | 'anthropic-messages'
  | 'gemini-generate'
  | 'bedrock-converse';

/** One recorded interaction, as in the file. `body` is parsed JSON if it was JSON, else raw text. */
export interface Recording {
  readonly id: string;
  readonly provider: string;
  readonly api: RecordedApi;
  readonly stream: boolean;
  readonly stream_requested: boolean;
  readonly fidelity: 'recorded' | 'recorded-parsed' | 'response-only' | 'handwritten';
  readonly features: readonly string[];
  readonly quirks: readonly string[];
  readonly request: {
    readonly method: string;
    readonly path: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: unknown;
  } | null;
  readonly response: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: unknown;
    readonly body_encoding?: 'base64' | 'text' | 'json-array-stream';
    readonly events?: readonly unknown[];
  };
}

/** Headers of the recorded connection or encoding; a replay has its own. */
const NOT_REPLAYED = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Returns the response body that the replay sends: text unchanged, base64 decoded, parsed JSON serialized once. */
export function recordingBytes(recording: Recording): Uint8Array {
  const { body, body_encoding } = recording.response;
  if (typeof body !== 'string') return utf8(JSON.stringify(body));
  return body_encoding === 'base64' ? new Uint8Array(Buffer.from(body, 'base64')) : utf8(body);
}

/**
 * Returns the response headers that a replay sends: lower-case names, without those of the recorded connection and
 * encoding.
 */
export function recordingHeaders(recording: Recording): [name: string, value: string][] {
  const headers: [string, string][] = [];
  for (const [name, value] of Object.entries(recording.response.headers ?? {})) {
    const lower = name.toLowerCase();
    if (!NOT_REPLAYED.has(lower)) headers.push([lower, value.replace(/[\r\n\0]+/g, ' ')]);
  }
  if (!headers.some(([name]) => name === 'content-type')) {
    headers.push(['content-type', recording.stream ? 'text/event-stream' : 'application/json']);
  }
  return headers;
}
