/**
 * Renders turns as messages in the order that chat completions requires: the results of an assistant's calls directly
 * after it, each in its own message, then other content. Refuses calls and results that do not match, and content that
 * the target does not accept.
 */
import type { DocumentPart, MediaPart, Part, ToolCallPart, ToolResultPart } from '../../../generation/part.ts';
import type { Turn } from '../../../generation/request.ts';
import type { WritableJson } from '../../../wire/json-writer.ts';
import { unpackHostData } from '../../host-data.ts';
import {
  refuseMedia,
  refuseSource,
  renderDocumentText,
  renderFile,
  renderImageUrl,
} from '../../openai/media-source.ts';
import { type Draft, ERROR_PREFIX, requireNoPrefill, upstreamName } from '../../openai/render-context.ts';
import { isAttribution } from '../../request/join-turns.ts';
import { refuseMember } from '../../request/translation-notes.ts';
import { fitOrder } from './fit-order.ts';
import { dropMark, markPart, type RenderContext, sendsMark, upstreamId } from './render-context.ts';

interface OpenCall {
  readonly name: string;
  readonly path: string;
}

/** Content of the user, or instructions, held back until all results have come. */
interface HeldMessage {
  readonly name: string | null;
  readonly parts: Draft[];
  readonly instructions?: Draft;
}

interface Thread {
  readonly messages: Draft[];
  /** Texts of the user are sent as one: many hosts and chat templates take no list of texts. OpenAI keeps their borders. */
  readonly joinsTexts: boolean;
  /** Calls without a result yet, by id. */
  readonly open: Map<string, OpenCall>;
  media: Draft[];
  held: HeldMessage[];
}

/** Throws CallFailure that names the invalid turn. */
export function renderTurns(context: RenderContext): Draft[] {
  const joinsTexts = !context.traits.chat.openaiMembers;
  const thread: Thread = { messages: [], joinsTexts, open: new Map(), media: [], held: [] };
  for (const turn of joinCalls(context.request.turns)) renderTurn(turn, thread, context);
  closeRun(thread);
  markPrefill(context.request.turns.at(-1), thread.messages.at(-1), context);
  return fitOrder(thread.messages, context.traits.chat);
}

function renderTurn(turn: Turn, thread: Thread, context: RenderContext): void {
  if (turn.role === 'user') {
    renderUser(turn, thread, context);
    return;
  }
  if (turn.role === 'assistant') {
    closeRun(thread);
    thread.messages.push(renderAssistant(turn, context));
    for (const part of turn.parts) if (part.kind === 'tool_call') openCall(part, part.path ?? turn.path, thread);
    return;
  }
  const instructions = renderInstructions(turn, context);
  if (instructions === null) return;
  // Nothing may come between calls and their results.
  if (thread.open.size > 0) thread.held.push({ name: null, parts: [], instructions });
  else {
    closeRun(thread);
    thread.messages.push(instructions);
  }
}

/** Null: no content remains. */
function renderInstructions({ parts, name, path }: Turn, context: RenderContext): Draft | null {
  const remaining = parts.filter((part) => !isAttribution(part));
  if (remaining.length === 0) return null;
  const content = joinTexts(
    remaining.flatMap((part) => renderInstruction(part, path, context)),
    '\n\n',
  );
  return { role: context.traits.chat.systemRole, content, name: name ?? undefined };
}

function renderInstruction(part: Part, path: string, context: RenderContext): Draft[] {
  if (part.kind === 'text' || part.kind === 'opaque') return renderPart(part, path, context);
  throw refuseMember(path, `holds a part (${part.kind}) that instructions cannot have; expected text`);
}

/** Results come first, whatever precedes them in the turn (vector 38). */
function renderUser(turn: Turn, thread: Thread, context: RenderContext): void {
  const visible: Draft[] = [];
  let hasResults = false;
  for (const part of turn.parts) {
    const path = part.path ?? turn.path;
    if (part.kind !== 'tool_result') {
      visible.push(...renderPart(part, path, context));
      continue;
    }
    hasResults = true;
    closeCall(part.call_id, path, thread);
    const { message, media } = renderResult(part, path, context);
    thread.messages.push(message);
    for (const one of media) thread.media.push(one);
  }
  if (visible.length > 0 || !hasResults) thread.held.push({ name: turn.name, parts: visible });
  if (thread.open.size === 0 && thread.held.length > 0) closeRun(thread);
}

/** Ends a run of results: all must be present. The results' media follow, then the held messages. */
function closeRun(thread: Thread): void {
  for (const [id, { name, path }] of thread.open) {
    throw refuseMember(
      path,
      `calls the tool ${JSON.stringify(name)} with the id ${JSON.stringify(id)}, but no result follows; send it in the next turn`,
    );
  }
  const [first, ...others] = thread.held;
  if (thread.media.length > 0) {
    const isUsers = first !== undefined && first.instructions === undefined;
    const parts = [...thread.media, ...(isUsers ? first.parts : [])];
    thread.held = [{ name: isUsers ? first.name : null, parts }, ...(isUsers ? others : thread.held)];
  }
  for (const { name, parts, instructions } of thread.held) {
    if (instructions !== undefined) {
      thread.messages.push(instructions);
      continue;
    }
    const content = thread.joinsTexts ? joinTexts(parts, '\n\n') : renderContent(parts);
    thread.messages.push({ role: 'user', content, name: name ?? undefined });
  }
  thread.media = [];
  thread.held = [];
}

function openCall({ id, name }: ToolCallPart, path: string, { open }: Thread): void {
  if (open.has(id))
    throw refuseMember(path, `holds two tool calls with the id ${JSON.stringify(id)}; give each its own`);
  open.set(id, { name, path });
}

function closeCall(id: string, path: string, { open }: Thread): void {
  if (open.delete(id)) return;
  throw refuseMember(
    path,
    `answers the tool call ${JSON.stringify(id)}, which the assistant's turn before it does not make; send the call first, and one result for it`,
  );
}

/** Joins consecutive assistant turns if the earlier one has calls: its results may only come after both. */
function joinCalls(turns: readonly Turn[]): Turn[] {
  const joined: Turn[] = [];
  /** The parts of the last turn, if it has calls; else null. */
  let calling: Part[] | null = null;
  for (const turn of turns) {
    if (turn.role === 'assistant' && calling !== null) {
      for (const part of turn.parts) calling.push(part);
      continue;
    }
    const parts = [...turn.parts];
    calling = turn.role === 'assistant' && parts.some(({ kind }) => kind === 'tool_call') ? parts : null;
    joined.push(calling === null ? turn : { ...turn, parts });
  }
  return joined;
}

/** An assistant turn at the end is a prefill of the answer. */
function markPrefill(turn: Turn | undefined, message: Draft | undefined, context: RenderContext): void {
  if (turn?.role !== 'assistant' || message === undefined) return;
  const { prefill } = context.traits.chat;
  requireNoPrefill(turn, context);
  if (prefill === 'prefix' || prefill === 'partial') message[prefill] = true;
}

/** Throws CallFailure for a part that an assistant cannot have. */
function renderAssistant(turn: Turn, context: RenderContext): Draft {
  const { chat } = context.traits;
  const spoken: Draft[] = [];
  const calls: Draft[] = [];
  const data: Draft = {};
  const details: WritableJson[] = [];
  const thoughts: string[] = [];
  const refusals: string[] = [];
  // The substitute text for another format's part gets its own line.
  let gap = '';
  for (const part of turn.parts) {
    switch (part.kind) {
      case 'text':
        spoken.push(markPart({ type: 'text', text: `${gap}${part.text}` }, part.cache_mark, context));
        gap = '';
        break;
      case 'opaque':
        if (part.words === null) break;
        spoken.push({ type: 'text', text: spoken.length === 0 ? part.words : `\n${part.words}` });
        gap = '\n';
        break;
      case 'tool_call':
        calls.push(renderCall(part, context));
        addData(data, details, part);
        break;
      case 'reasoning':
        if (!part.redacted && part.text !== '') thoughts.push(part.text);
        break;
      case 'refusal':
        if (chat.openaiMembers) refusals.push(part.text);
        else spoken.push({ type: 'text', text: part.text });
        break;
      default:
        throw misplaced(part, part.path ?? turn.path);
    }
  }
  const isSilent = spoken.length === 0 && calls.length > 0;
  const message: Draft = { role: 'assistant', content: isSilent && chat.nullContent ? null : joinTexts(spoken, '') };
  if (turn.name !== null) message.name = turn.name;
  if (refusals.length > 0) message.refusal = refusals.join('');
  if (thoughts.length === 0 && needsFiller(turn, calls.length > 0, context)) thoughts.push(NO_REASONING);
  if (chat.reasoningInHistory !== null && thoughts.length > 0) message[chat.reasoningInHistory] = thoughts.join('\n\n');
  if (calls.length > 0) message.tool_calls = calls;
  return { ...message, ...data };
}

/** Stands for the reasoning of an answer that had none, as another model's; an empty text does not count everywhere. */
const NO_REASONING = ' ';

/** Whether the model would refuse the turn without reasoning. The beginning of an answer has none yet. */
function needsFiller(turn: Turn, calls: boolean, { request, traits }: RenderContext): boolean {
  const { unreasonedRefused } = traits.chat;
  const reasons = traits.takes.reasoning !== false && request.reasoning?.mode !== 'off';
  return (
    reasons && (calls ? unreasonedRefused !== 'none' : unreasonedRefused === 'all' && turn !== request.turns.at(-1))
  );
}

/** Arguments are sent verbatim; a call without any gets an empty object (vector 2). */
function renderCall(call: ToolCallPart, context: RenderContext): Draft {
  dropMark(call.cache_mark, context);
  const id = upstreamId(call.id, context);
  const name = upstreamName(call.name, context);
  const data = unpackHostData(call.host_data)?.call as Draft | null | undefined;
  if (call.tool === 'custom' && !context.traits.chat.openaiMembers) {
    const called = { name, arguments: JSON.stringify({ input: call.arguments }) };
    return { id, type: 'function', function: called, ...data };
  }
  if (call.tool === 'custom') return { id, type: 'custom', custom: { name, input: call.arguments }, ...data };
  const called = { name, arguments: call.arguments === '' ? '{}' : call.arguments };
  return { id, type: 'function', function: called, ...data };
}

/** Adds the provider data of a call's message to `data`; appends its details to `details`, those of joined messages. */
function addData(data: Draft, details: WritableJson[], { host_data }: ToolCallPart): void {
  const added = unpackHostData(host_data)?.message as Draft | null | undefined;
  if (added === null || added === undefined) return;
  Object.assign(data, added);
  if (!Array.isArray(added.reasoning_details)) return;
  for (const detail of added.reasoning_details) details.push(detail);
  data.reasoning_details = details;
}

function misplaced(part: Part, path: string) {
  return refuseMember(
    path,
    `holds a part (${part.kind}) that an assistant's message cannot have here; move it to a user's`,
  );
}

/** `path` is the part's, or its turn's. Throws CallFailure for content that the model or provider does not accept. */
function renderPart(part: Part, path: string, context: RenderContext): Draft[] {
  switch (part.kind) {
    case 'text':
      return [markPart({ type: 'text', text: part.text }, part.cache_mark, context)];
    case 'image':
      return [markPart(renderImage(part, path, context), part.cache_mark, context)];
    case 'audio':
      return [markPart(renderAudio(part, path, context), part.cache_mark, context)];
    case 'document':
      return renderDocument(part, path, context);
    case 'opaque':
      return part.words === null ? [] : [{ type: 'text', text: part.words }];
    default:
      throw refuseMember(path, `holds a part (${part.kind}) that only an assistant's message can have; leave it out`);
  }
}

/** A single text is rendered as a string, which every provider accepts. */
function renderContent(parts: Draft[]): string | Draft[] {
  const [only] = parts;
  if (only === undefined) return '';
  const plain = parts.length === 1 && only.type === 'text' && only.prompt_cache_breakpoint === undefined;
  return plain && typeof only.text === 'string' ? only.text : parts;
}

function renderImage(part: MediaPart, path: string, context: RenderContext): Draft {
  const url = renderImageUrl(part, path, context);
  return { type: 'image_url', image_url: { url, detail: part.detail ?? undefined } };
}

function renderAudio({ source }: MediaPart, path: string, context: RenderContext): Draft {
  if (context.traits.takes.audio === false) throw refuseMedia(path, 'sound', 'sound', context);
  if (source.kind !== 'base64') throw refuseSource(path, 'sound', source, 'base64');
  const format = source.media_type === 'audio/mpeg' ? 'mp3' : source.media_type.replace(/^audio\//, '');
  return { type: 'input_audio', input_audio: { data: source.base64, format } };
}

/** The context of a file is sent as a text part before it. */
function renderDocument(part: DocumentPart, path: string, context: RenderContext): Draft[] {
  const { source, title, context: about, cache_mark } = part;
  const text = renderDocumentText(part, context);
  if (text !== null) return [markPart({ type: 'text', text }, cache_mark, context)];
  if (source.kind !== 'base64') throw refuseSource(path, 'a document', source, 'base64 or text');
  if (!context.traits.chat.files || context.traits.takes.pdf === false)
    throw refuseMedia(path, 'a document', 'documents; send its text', context);
  const before: Draft[] = about === null ? [] : [{ type: 'text', text: about }];
  return [...before, markPart({ type: 'file', file: renderFile(title, source) }, cache_mark, context)];
}

const NO_TEXT = '(this result is in the next message)';

interface RenderedResult {
  readonly message: Draft;
  /** Labeled images and files, sent after all results of the run. Empty: none. */
  readonly media: readonly Draft[];
}

/** `path` is the result's, or its turn's. */
function renderResult(result: ToolResultPart, path: string, context: RenderContext): RenderedResult {
  const id = upstreamId(result.call_id, context);
  const parts = result.parts.flatMap((part) => renderPart(part, path, context));
  const isNative = context.traits.chat.mediaInToolMessages;
  const spoken = isNative ? parts : parts.filter(isText);
  const media = isNative ? [] : parts.filter((part) => !isText(part));
  if (spoken.length === 0 && media.length > 0) spoken.push({ type: 'text', text: NO_TEXT });
  if (result.is_error) prefixError(spoken);
  markResult(spoken, result, context);
  const label: Draft[] = media.length === 0 ? [] : [{ type: 'text', text: `From the result of the tool call ${id}:` }];
  return {
    message: { role: 'tool', tool_call_id: id, content: joinTexts(spoken, '\n') },
    media: [...label, ...media],
  };
}

/** Joins texts into one string, unless there are other parts or a cache mark must keep its place. */
function joinTexts(parts: Draft[], gap: string): string | Draft[] {
  const isPlain = parts.every((part) => isText(part) && part.prompt_cache_breakpoint === undefined);
  return isPlain ? parts.map(({ text }) => text).join(gap) : renderContent(parts);
}

function isText(part: Draft): boolean {
  return part.type === 'text';
}

function prefixError(spoken: Draft[]): void {
  const [first] = spoken;
  if (first !== undefined && typeof first.text === 'string') first.text = `${ERROR_PREFIX}${first.text}`;
  else spoken.unshift({ type: 'text', text: ERROR_PREFIX.trimEnd() });
}

/** A cache mark on the whole result goes on its last part; it is dropped if the result is empty. */
function markResult(spoken: Draft[], { cache_mark }: ToolResultPart, context: RenderContext): void {
  const last = spoken.at(-1);
  if (last === undefined || !sendsMark(cache_mark, context)) dropMark(cache_mark, context);
  else if (last.prompt_cache_breakpoint === undefined) markPart(last, cache_mark, context);
}
