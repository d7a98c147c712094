/** Renders a whole response, and the start of a streamed one, as a message. Source: wire reference B.5, B.6, C.3 and C.7. */
import { CallFailure } from '../../../errors/call-failure.ts';
import { type FinishReason, isCut } from '../../../generation/event.ts';
import type { Generation } from '../../../generation/generation.ts';
import {
  type Citation,
  type JsonText,
  type Native,
  type OpaquePart,
  type Part,
  type ReasoningPart,
  sealedOf,
  type TextPart,
  type ToolCallPart,
} from '../../../generation/part.ts';
import { RawJson, type WritableJson, writeJson } from '../../../wire/json-writer.ts';
import { checkArguments, keepWholeMembers } from '../../answer/call-arguments.ts';
import type { AnswerContext } from '../../client-protocol.ts';
import { aliasText } from '../../request/tool-names.ts';
import { renderStopReason } from '../shared/stop-reasons.ts';
import { estimateUsage, renderUsage } from '../shared/usage.ts';

/**
 * `finish_reason` is the `stop_reason`. Throws `upstream_malformed` if a tool call's arguments are not a JSON object.
 */
export function renderAnswer(
  generation: Generation,
  context: AnswerContext,
): { readonly json: string; readonly finish_reason: string } {
  const { parts, model, stop_sequence, explanation } = generation;
  const finish_reason = generation.finish_reason ?? 'other';
  const content = renderBlocks(parts, isCut(finish_reason), context);
  const callsTool = parts.some(({ kind }) => kind === 'tool_call');
  const stop = renderStop({ finish_reason, stop_sequence, explanation }, callsTool);
  const outputBytes = parts.reduce((sum, part) => sum + bytesOf(part), 0);
  const usage = generation.usage ?? estimateUsage(context.estimatedInputTokens, outputBytes);
  return {
    json: writeJson(renderMessage(model, content, stop, renderUsage(usage), context)),
    finish_reason: stop.stop_reason,
  };
}

/** UTF-8 bytes of a part's text, thinking or arguments. */
function bytesOf(part: Generation['parts'][number]): number {
  if (part.kind === 'tool_call') return Buffer.byteLength(part.arguments);
  const speaks = part.kind === 'text' || part.kind === 'reasoning' || part.kind === 'refusal';
  return speaks ? Buffer.byteLength(part.text) : 0;
}

/**
 * Blocks in the order of the parts; an empty part yields none. `cut`: the response ended before the model was done, so
 * arguments may be cut off and only their complete members are shown. Throws `upstream_malformed` for otherwise broken
 * arguments.
 */
function renderBlocks(parts: readonly Part[], cut: boolean, context: AnswerContext): WritableJson[] {
  const takeId = startCallIds(context.id);
  return parts.flatMap((part) => renderPart(part, cut, context, takeId));
}

function renderPart(
  part: Part,
  cut: boolean,
  context: AnswerContext,
  takeId: (id: string) => string,
): readonly WritableJson[] {
  switch (part.kind) {
    case 'text':
      return renderText(part);
    case 'refusal':
      return part.text === '' ? [] : [{ type: 'text', text: part.text }];
    case 'reasoning':
      return renderReasoning(part, context);
    case 'tool_call': {
      const { id, name, host_data } = part;
      const call = { type: 'tool_use', id: takeId(id), name, input: new RawJson(renderInput(part, cut)) };
      return host_data === undefined ? [call] : [renderCallData(host_data, context), call];
    }
    case 'opaque':
      return renderOpaque(part, context);
    default:
      throw new Error(`a model's answer has no ${part.kind}`);
  }
}

/** What the provider wants back with the call after it. */
export function renderCallData(native: Native, context: AnswerContext): SealedBlock {
  return { type: 'redacted_thinking', data: context.seal({ kind: 'call_data', native }) };
}

/** A block of another format goes back to its issuer sealed. */
function renderOpaque(part: OpaquePart, context: AnswerContext): readonly WritableJson[] {
  if (part.native.origin === 'messages') return [new RawJson(part.native.json)];
  const sealed = sealOpaque(part, context);
  return sealed === null ? [] : [sealed];
}

/** Null: the client gets nothing in place of the part. */
export function sealOpaque(part: OpaquePart, context: AnswerContext): SealedBlock | null {
  const content = context.returnsReasoning ? sealedOf(part) : null;
  return content === null ? null : { type: 'redacted_thinking', data: context.seal(content) };
}

/** What only the gateway reads; clients send such blocks back as they are. */
type SealedBlock = { readonly type: 'redacted_thinking'; readonly data: string };

function renderText({ text, citations }: TextPart): readonly WritableJson[] {
  const rendered = citations.map(renderCitation).flatMap((json) => (json === null ? [] : [new RawJson(json)]));
  if (text === '' && rendered.length === 0) return [];
  return [rendered.length === 0 ? { type: 'text', text } : { type: 'text', text, citations: rendered }];
}

/**
 * A citation as JSON: one of this format as its issuer wrote it, a page that another provider found as a search result. The
 * format's own citation of a page holds a token that only Anthropic can issue. Null: it names no page.
 */
export function renderCitation(citation: Citation): JsonText | null {
  if (citation.native?.origin === 'messages') return citation.native.json;
  if (citation.kind !== 'url') return null;
  const { url, title, quote } = citation;
  const place = { search_result_index: 0, start_block_index: 0, end_block_index: 0 };
  return writeJson({ type: 'search_result_location', cited_text: quote ?? '', source: url, title, ...place });
}

function renderReasoning(part: ReasoningPart, context: AnswerContext): readonly WritableJson[] {
  const signature = shownSignature(part, context);
  if (signature === null) return [];
  if (part.redacted) return [{ type: 'redacted_thinking', data: signature }];
  return [{ type: 'thinking', thinking: part.text, signature }];
}

/**
 * The signature that the client gets with reasoning: one of this format as it is, any other sealed with its reasoning; a
 * mark of the gateway's for reasoning without one, because it must not be empty. Null: the client gets nothing of the part.
 */
export function shownSignature(part: ReasoningPart, context: AnswerContext): string | null {
  const { text, signature, issuer } = part;
  if (signature !== null && issuer === 'messages') return signature;
  // A client that expects no reasoning may take the first block for the answer.
  if (text === '' && (signature === null || !context.returnsReasoning)) return null;
  return signature === null ? context.sign(text) : context.seal({ kind: 'reasoning', part });
}

function renderInput({ tool, name, arguments: text }: ToolCallPart, cut: boolean): string {
  if (tool === 'custom') return `{"input":${JSON.stringify(text)}}`;
  const state = checkArguments(text);
  if (state === 'empty') return '{}';
  if (state === 'whole') return text;
  if (cut) return keepWholeMembers(text);
  const named = JSON.stringify(name.slice(0, 100));
  throw new CallFailure('upstream_malformed', `the arguments of a call of ${named} are not a JSON object`);
}

const CALL_ID_CHARS_MAX = 128;

/** The members about the end of a response, shared by a whole message and `message_delta`. */
interface StopMembers {
  readonly stop_reason: string | null;
  readonly stop_sequence: string | null;
  readonly stop_details: WritableJson;
  readonly container: null;
}

/** The members of a response that has not ended. */
export const NOT_STOPPED: StopMembers = { stop_reason: null, stop_sequence: null, stop_details: null, container: null };

/** Renders the finish of a response as stop members. */
export function renderStop(
  finish: {
    readonly finish_reason: FinishReason;
    readonly stop_sequence: string | null;
    readonly explanation: string | null;
  },
  callsTool: boolean,
): StopMembers & { readonly stop_reason: string } {
  const stop_reason = renderStopReason(finish.finish_reason, callsTool);
  return {
    stop_reason,
    stop_sequence: stop_reason === 'stop_sequence' ? finish.stop_sequence : null,
    stop_details:
      stop_reason === 'refusal' ? { type: 'refusal', category: null, explanation: finish.explanation } : null,
    container: null,
  };
}

/** The message object, also used in `message_start`. */
export function renderMessage(
  model: string | null,
  content: readonly WritableJson[],
  stop: StopMembers,
  usage: WritableJson,
  context: AnswerContext,
): WritableJson {
  return {
    id: `msg_${context.id}`,
    type: 'message',
    role: 'assistant',
    model: model ?? context.model,
    content,
    ...stop,
    diagnostics: null,
    usage,
  };
}

/**
 * Gives the calls of one response unique ids that the format accepts (`^[a-zA-Z0-9_-]+$`, at most 128 characters): some
 * providers send none, or the same id for all.
 */
export function startCallIds(answerId: string): (id: string) => string {
  const given = new Set<string>();
  return (id) => {
    const named = aliasText(id === '' ? `toolu_${answerId}_${given.size}` : id, CALL_ID_CHARS_MAX);
    const unique = given.has(named) ? aliasText(`${id} ${given.size}`, CALL_ID_CHARS_MAX) : named;
    given.add(unique);
    return unique;
  };
}
