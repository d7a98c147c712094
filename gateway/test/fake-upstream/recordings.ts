/** Owns reading the recorded provider interactions that lie beside the project. Never copies them and never changes them. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { utf8 } from './body-part.ts';

export type RecordedApi = 'openai-chat' | 'anthropic-messages' | 'gemini-generate' | 'bedrock-converse';

/** One recorded interaction, as the file has it. `body` is parsed JSON where it was JSON, else raw text. */
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

/** Ends the name of each suite that replays recordings; what a suite prints when it skips for want of them. */
export const RECORDINGS_ABSENT = '(needs ../shared/recordings)';

/** Headers that describe the recorded connection or encoding, not the answer; a replay has its own. */
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

/** `../shared/recordings` relative to the project's root. */
export function defaultRecordingsDir(): string {
  return resolve(import.meta.dir, '../../../../shared/recordings');
}

function readRecording(path: string): Recording {
  const recording: Recording = JSON.parse(readFileSync(path, 'utf8'));
  return recording;
}

/** Loads one recording by its id, such as `openai-chat/0002`; null where the folder or the file is absent. */
export function loadRecording(id: string, recordingsDir: string = defaultRecordingsDir()): Recording | null {
  if (!/^[a-z-]+\/[0-9]+$/.test(id)) return null;
  const path = join(recordingsDir, `${id}.json`);
  return existsSync(path) ? readRecording(path) : null;
}

/**
 * Loads every recording of an API, in the order of the index. Null, never an exception, where the folder is absent: the
 * suite then skips and prints `RECORDINGS_ABSENT`.
 */
export function loadRecordings(wanted: {
  readonly api: RecordedApi;
  readonly recordingsDir?: string;
}): Recording[] | null {
  const dir = wanted.recordingsDir ?? defaultRecordingsDir();
  const index = join(dir, 'INDEX.jsonl');
  if (!existsSync(index)) return null;
  const recordings: Recording[] = [];
  for (const line of readFileSync(index, 'utf8').split('\n')) {
    if (line === '') continue;
    const entry: { readonly api: string; readonly file: string } = JSON.parse(line);
    if (entry.api === wanted.api) recordings.push(readRecording(join(dirname(index), entry.file)));
  }
  return recordings;
}

/** The response body's bytes as the replay sends them: text as it stands, base64 decoded, parsed JSON serialised once. */
export function recordingBytes(recording: Recording): Uint8Array {
  const { body, body_encoding } = recording.response;
  if (typeof body !== 'string') return utf8(JSON.stringify(body));
  return body_encoding === 'base64' ? new Uint8Array(Buffer.from(body, 'base64')) : utf8(body);
}

/** The response headers a replay sends: lower-case names, without those of the recorded connection and encoding. */
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
