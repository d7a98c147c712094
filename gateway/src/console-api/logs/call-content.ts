/**
 * Shows the stored content of a call to a reader of the logs, as raw bodies and as a conversation, where their
 * permissions allow it.
 */

import type { z } from 'zod';
import { startSseDecoder } from '../../framing/sse-decoder.ts';
import type { GenerationEvent } from '../../generation/event.ts';
import { foldGeneration } from '../../generation/generation.ts';
import type { Part, Source } from '../../generation/part.ts';
import type { ClientProtocolName } from '../../protocols/names.ts';
import { CLIENT_PROTOCOLS, upstreamHalfOf } from '../../protocols/registry.ts';
import { startTranslationNotes } from '../../protocols/request/translation-notes.ts';
import type { GenerationUpstream } from '../../protocols/upstream-protocol.ts';
import type { CallContent, ContentStore, StoredBytes } from '../../store/ports/content.ts';
import { startJsonScan } from '../../wire/json-scan.ts';
import type { Reply } from '../contract/contract.ts';
import type { conversationTurn } from '../contract/logs.ts';
import type { Tenancy } from '../kernel/actor.ts';

/** The content members of a call's detail. */
export type ShownContent = Pick<Reply<'GET /accounts/{account}/logs/{request}'>, 'content' | 'conversation' | 'raw'>;

/** The content that a reader may see. Content of another account or workspace counts as not stored. Never rejects. */
export type ContentOf = (tenancy: Tenancy, requestId: string) => Promise<ShownContent>;

const NOTHING = { conversation: null, raw: null } as const;

/** `onFault`: reports stored content that can't be read to the operator. */
export function createContentOf(
  store: Pick<ContentStore, 'find' | 'read'>,
  onFault: (requestId: string, cause: unknown) => void,
): ContentOf {
  return async (tenancy, requestId) => {
    try {
      const workspace = await store.find(tenancy.account, requestId);
      if (workspace === null || tenancy.workspaces?.includes(workspace) === false) {
        return { content: 'none', ...NOTHING };
      }
      if (!tenancy.may('content.read')) return { content: 'hidden', ...NOTHING };
      const content = await store.read(tenancy.account, requestId);
      return content === null ? { content: 'none', ...NOTHING } : await showContent(content);
    } catch (cause) {
      onFault(requestId, cause);
      return { content: 'unreadable', ...NOTHING };
    }
  };
}

async function showContent(content: CallContent): Promise<ShownContent> {
  const { request, upstreamRequest, response, upstreamResponse, stream, status } = content;
  const { protocol } = content;
  const requestTurns = isCut(request) ? null : await readRequestTurns(protocol, request.bytes);
  // The beginning of a stream is readable without its end; the beginning of JSON is not.
  const answered =
    isCut(response) && !stream ? null : readAnswerTurn(protocol, { bytes: response.bytes, stream, status });
  const requestText = textOf(request);
  const sent = upstreamRequest === 'same' ? request : upstreamRequest;
  return {
    content: 'shown',
    conversation:
      requestTurns === null && answered === null
        ? null
        : [...(requestTurns ?? []), ...(answered === null ? [] : [answered])],
    raw: {
      request: requestText,
      upstream_request: sent === null ? null : sent === request ? requestText : textOf(sent),
      response: textOf(response),
      upstream_response: upstreamResponse === null ? null : textOf(upstreamResponse),
      truncated: [request, sent, response, upstreamResponse].some((body) => body !== null && isCut(body)),
    },
  };
}

function isCut({ bytes, totalBytes }: StoredBytes): boolean {
  return bytes.length < totalBytes;
}

/** Invalid UTF-8 becomes the replacement character. */
function textOf({ bytes }: StoredBytes): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8');
}

type ConversationTurn = z.output<typeof conversationTurn>;
type ConversationPart = ConversationTurn['parts'][number];

/** Other calls run after each step of this many bytes. */
const STEP_BYTES = 256 * 1024;

/** The conversation in the request; null: it is incomplete or not in the protocol's format. */
async function readRequestTurns(
  protocol: ClientProtocolName,
  request: Uint8Array,
): Promise<readonly ConversationTurn[] | null> {
  const scan = startJsonScan(request);
  let outcome = scan.step(STEP_BYTES);
  while (outcome === 'more') {
    await new Promise<void>((resolve) => setImmediate(resolve));
    outcome = scan.step(STEP_BYTES);
  }
  if (!outcome.ok) return null;
  try {
    const client = CLIENT_PROTOCOLS[protocol];
    if (!client.translates) return null;
    const { turns } = client.parseRequest(outcome, startTranslationNotes(false), { model: '', stream: false });
    return turns.map(({ role, parts }) => ({ role, parts: parts.map(showPart) }));
  } catch {
    // The content of a request may be invalid; then only the raw body can be shown.
    return null;
  }
}

/** The response, as far as it was sent, or its error; null: neither can be read from it. */
function readAnswerTurn(
  protocol: ClientProtocolName,
  { bytes, stream, status }: { readonly bytes: Uint8Array; readonly stream: boolean; readonly status: number },
): ConversationTurn | null {
  const format = upstreamHalfOf(protocol);
  if (format === null || !format.translates) return null;
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (!stream && status !== 200) {
    const { message } = format.readError(body);
    return message === '' ? null : errorTurn(message);
  }
  const events = stream ? readStream(format, body) : format.parseAnswer(body);
  const parts = foldGeneration(events).parts.map(showPart);
  const failed = events.find((event) => event.kind === 'error');
  if (failed !== undefined) parts.push({ kind: 'other', name: 'error', text: failed.message });
  return parts.length === 0 ? null : { role: 'assistant', parts };
}

function readStream(format: GenerationUpstream, body: Buffer): readonly GenerationEvent[] {
  const decoder = startSseDecoder();
  const parser = format.startStreamParser();
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

/** Describes media by type and size instead of showing the bytes. */
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
