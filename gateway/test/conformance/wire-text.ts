/**
 * Parses recorded answers a second, slow way for the oracles: records by blank lines, data by JSON. Uses no product
 * code.
 */
import { type Recording, recordingBytes } from '../fake-upstream/recording.ts';

export type Json = { readonly [member: string]: unknown };

/** One record of a recorded stream: its text with its blank line, and its data (`DONE`, JSON, or null for none). */
export interface TextRecord {
  readonly text: string;
  readonly event: string;
  readonly data: Json | 'DONE' | null;
}

export function object(value: unknown): Json | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : null;
}

export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function words(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** Returns the recorded body as the replay sends it, with CR LF line ends on request. */
export function recordedText(recording: Recording, crlf: boolean): string {
  const text = new TextDecoder().decode(recordingBytes(recording));
  return crlf ? text.replace(/\r?\n/g, '\r\n') : text;
}

/** Splits a stream's text into its records; every character belongs to one. */
export function textRecords(text: string): TextRecord[] {
  const records = text.match(/[\s\S]*?(?:\r?\n){2,}|[\s\S]+$/g) ?? [];
  return records.map((record) => {
    const lines = record.split(/\r?\n/);
    const data = lines.filter((line) => line.startsWith('data:')).map((line) => line.slice(5).trim());
    const event =
      lines
        .find((line) => line.startsWith('event:'))
        ?.slice(6)
        .trim() ?? '';
    return { text: record, event, data: data.length === 0 ? null : parseData(data.join('\n')) };
  });
}

function parseData(text: string): Json | 'DONE' {
  return text === '[DONE]' ? 'DONE' : (JSON.parse(text) as Json);
}

/** Returns the data of all JSON records. */
export function chunksOf(records: readonly TextRecord[]): Json[] {
  return records.flatMap(({ data }) => (data === null || data === 'DONE' ? [] : [data]));
}
