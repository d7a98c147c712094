/** Owns making a conversation for readers out of the bodies of one call, by the formats' own parsers. Knows no store and no reader. */
import type { z } from 'zod';
import type { GenerationEvent } from '../generation/event.ts';
import { foldGeneration } from '../generation/generation.ts';
import type { Part, Source } from '../generation/part.ts';
import { TRANSLATION_OUTLINE_DEPTH } from '../protocols/codec.ts';
import type { Protocol } from '../protocols/protocol.ts';
import { startNotes } from '../protocols/translation-notes.ts';
import { startJsonScan } from '../wire/json-scan.ts';
import { startSseDecoder } from '../wire/sse-decoder.ts';
import type { conversationTurn } from './contract/logs.ts';

export type ConversationTurn = z.output<typeof conversationTurn>;
type ConversationPart = ConversationTurn['parts'][number];

/** After so many bytes other calls get their turn. */
const STEP_BYTES = 256 * 1024;

/** What the caller said; null: it cannot be read, since it is not whole or not of the format. */
export async function readRequestTurns(
  protocol: Protocol,
  request: Uint8Array,
): Promise<readonly ConversationTurn[] | null> {
  const scan = startJsonScan(request, { outlineDepth: TRANSLATION_OUTLINE_DEPTH });
  let outcome = scan.step(STEP_BYTES);
  while (outcome === 'more') {
    await new Promise<void>((resolve) => setImmediate(resolve));
    outcome = scan.step(STEP_BYTES);
  }
  if (!outcome.ok) return null;
  try {
    const { turns } = protocol.codec.parseRequest(outcome, startNotes(false));
    return turns.map(({ role, parts }) => ({ role, parts: parts.map(showPart) }));
  } catch {
    // A caller's request may be refused for what it says: then the raw body is what there is to show.
    return null;
  }
}

/** What went out: the answer, as far as it came, or the error; null: neither can be read in it. */
export function readAnswerTurn(
  protocol: Protocol,
  { bytes, stream, status }: { readonly bytes: Uint8Array; readonly stream: boolean; readonly status: number },
): ConversationTurn | null {
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (!stream && status !== 200) {
    const { message } = protocol.codec.readError(body);
    return message === '' ? null : errorTurn(message);
  }
  const events = stream ? readStream(protocol, body) : protocol.codec.parseAnswer(body);
  const parts = foldGeneration(events).parts.map(showPart);
  const failed = events.find((event) => event.kind === 'error');
  if (failed !== undefined) parts.push({ kind: 'other', name: 'error', text: failed.message });
  return parts.length === 0 ? null : { role: 'assistant', parts };
}

function readStream(protocol: Protocol, body: Buffer): readonly GenerationEvent[] {
  const decoder = startSseDecoder();
  const parser = protocol.codec.startStreamParser();
  const events: GenerationEvent[] = [];
  for (const output of [...decoder.push(body), ...decoder.finish()]) {
    if (output.kind === 'event') events.push(...parser.push(output));
  }
  return events;
}

function errorTurn(text: string): ConversationTurn {
  return { role: 'error', parts: [{ kind: 'other', name: 'error', text }] };
}

function showPart(part: Part): ConversationPart {
  switch (part.kind) {
    case 'text':
      return { kind: 'text', name: null, text: part.text };
    case 'reasoning':
      return { kind: 'reasoning', name: part.redacted ? 'redacted' : null, text: part.text };
    case 'tool_call':
      return { kind: 'tool_call', name: part.name, text: part.arguments };
    case 'tool_result': {
      const text = part.parts.map((each) => showPart(each).text).join('\n');
      return { kind: 'tool_result', name: part.call_id, text: part.is_error ? `error: ${text}` : text };
    }
    case 'image':
    case 'audio':
      return { kind: 'media', name: part.kind, text: describeSource(part.source) };
    case 'document':
      return { kind: 'media', name: part.title ?? 'document', text: describeSource(part.source) };
    case 'refusal':
      return { kind: 'other', name: 'refusal', text: part.text };
    case 'opaque':
      return { kind: 'other', name: part.type, text: part.native.json };
  }
}

/** A medium's bytes are not shown: what they are, and how many. */
function describeSource(source: Source): string {
  switch (source.kind) {
    case 'base64':
      return `${source.media_type}, ${Math.floor((source.base64.length * 3) / 4)} bytes`;
    case 'url':
      return source.url;
    case 'file':
      return `file ${source.id}`;
    case 'text':
      return source.text;
  }
}
