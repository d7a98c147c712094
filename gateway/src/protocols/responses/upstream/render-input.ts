/**
 * Renders turns as the items of a Responses request: instructions as messages of the developer, calls and their results
 * as items of their own, sealed reasoning where it was. Source: specification of the Responses API, F.4.
 */
import type { DocumentPart, MediaPart, Part, ToolResultPart } from '../../../generation/part.ts';
import type { Turn } from '../../../generation/request.ts';
import { RawJson, type WritableJson } from '../../../wire/json-writer.ts';
import {
  refuseMedia,
  refuseSource,
  renderDocumentText,
  renderFile,
  renderImageUrl,
} from '../../openai/media-source.ts';
import {
  callerWord,
  type Draft,
  ERROR_PREFIX,
  modelWord,
  type OpenaiContext,
  requireNoPrefill,
  upstreamName,
} from '../../openai/render-context.ts';
import { isAttribution, withOwnCallIds } from '../../request/join-turns.ts';
import { aliasText } from '../../request/tool-names.ts';
import { refuseMember } from '../../request/translation-notes.ts';

const CALL_ID_CHARS_MAX = 64;

/** Calls by id, to know the form of their results. */
type Calls = Map<string, 'function' | 'custom'>;

/** Throws CallFailure that names the turn for content that the target does not take. */
export function renderInput(context: OpenaiContext): WritableJson[] {
  const items: WritableJson[] = [];
  const calls: Calls = new Map();
  for (const turn of withOwnCallIds(context.request.turns)) {
    if (turn.role === 'assistant') items.push(...renderAssistant(turn, calls, context));
    else if (turn.role === 'user') items.push(...renderUser(turn, calls, context));
    else {
      const parts = turn.parts.filter((part) => !isAttribution(part));
      items.push(...message('developer', renderParts(parts, turn.path, context)));
    }
  }
  const last = context.request.turns.at(-1);
  if (last?.role === 'assistant' && last.parts.at(-1)?.kind === 'text') requireNoPrefill(last, context);
  return items;
}

function message(role: string, content: Draft[]): Draft[] {
  return content.length === 0 ? [] : [{ type: 'message', role, content }];
}

/** Results come first, whatever precedes them in the turn. */
function renderUser(turn: Turn, calls: Calls, context: OpenaiContext): Draft[] {
  const results = turn.parts.filter((part) => part.kind === 'tool_result');
  const others = turn.parts.filter((part) => part.kind !== 'tool_result');
  const rendered = results.map((result) => renderResult(result, result.path ?? turn.path, calls, context));
  return [...rendered, ...message('user', renderParts(others, turn.path, context))];
}

function renderResult(result: ToolResultPart, path: string, calls: Calls, context: OpenaiContext): Draft {
  const form = calls.get(result.call_id);
  if (form === undefined) {
    const id = JSON.stringify(result.call_id.slice(0, 64));
    throw refuseMember(path, `answers the tool call ${id}, which no turn before it makes; send the call first`);
  }
  dropMark(result, context);
  const parts = renderParts(result.parts, path, context);
  const isText = parts.every(({ type }) => type === 'input_text');
  const prefix = result.is_error ? ERROR_PREFIX : '';
  const output = isText
    ? `${prefix}${parts.map(({ text }) => text).join('\n')}`
    : [...(prefix === '' ? [] : [{ type: 'input_text', text: prefix }]), ...parts];
  const call_id = aliasText(result.call_id, CALL_ID_CHARS_MAX);
  return { type: form === 'custom' ? 'custom_tool_call_output' : 'function_call_output', call_id, output };
}

/** Texts that nothing separates are one message. Reasoning without the item that it led to is refused, so it is left out. */
function renderAssistant(turn: Turn, calls: Calls, context: OpenaiContext): WritableJson[] {
  const items: WritableJson[] = [];
  let spoken: Draft[] = [];
  let reasoning: RawJson | null = null;
  const add = (item: WritableJson) => {
    if (reasoning !== null) items.push(reasoning);
    reasoning = null;
    items.push(item);
  };
  const flush = () => {
    for (const item of message('assistant', spoken)) add(item);
    spoken = [];
  };
  for (const part of turn.parts) {
    switch (part.kind) {
      case 'text':
        dropMark(part, context);
        if (part.text !== '') spoken.push({ type: 'output_text', text: part.text });
        break;
      case 'refusal':
        spoken.push({ type: 'refusal', refusal: part.text });
        break;
      case 'tool_call': {
        flush();
        dropMark(part, context);
        calls.set(part.id, part.tool);
        const call = { call_id: aliasText(part.id, CALL_ID_CHARS_MAX), name: upstreamName(part.name, context) };
        if (part.tool === 'custom') add({ type: 'custom_tool_call', ...call, input: part.arguments });
        else add({ type: 'function_call', ...call, arguments: part.arguments === '' ? '{}' : part.arguments });
        break;
      }
      case 'opaque':
        if (part.words !== null) spoken.push({ type: 'output_text', text: part.words });
        break;
      case 'reasoning':
        // Only an item that this format's parser read is sent: no client can write one.
        if (part.issuer !== 'responses' || part.signature === null) break;
        flush();
        reasoning = new RawJson(part.signature);
        break;
      default:
        throw refuseMember(
          part.path ?? turn.path,
          `holds a part (${part.kind}) that an assistant's message cannot have here`,
        );
    }
  }
  flush();
  return items;
}

function renderParts(parts: readonly Part[], path: string, context: OpenaiContext): Draft[] {
  return parts.flatMap((part): Draft[] => {
    const at = part.path ?? path;
    if ('cache_mark' in part) dropMark(part, context);
    switch (part.kind) {
      case 'text':
        return [{ type: 'input_text', text: part.text }];
      case 'image':
        return [renderImage(part, at, context)];
      case 'document':
        return renderDocument(part, at, context);
      case 'opaque':
        return part.words === null ? [] : [{ type: 'input_text', text: part.words }];
      default:
        throw refuseMember(at, `holds a part (${part.kind}) that cannot be sent to ${modelWord(context)}`);
    }
  });
}

function renderImage(part: MediaPart, path: string, context: OpenaiContext): Draft {
  return { type: 'input_image', image_url: renderImageUrl(part, path, context), detail: part.detail ?? undefined };
}

/** The context of a file is sent as a text part before it. */
function renderDocument(part: DocumentPart, path: string, context: OpenaiContext): Draft[] {
  const { source, title, context: about } = part;
  const text = renderDocumentText(part, context);
  if (text !== null) return [{ type: 'input_text', text }];
  if (context.traits.takes.pdf === false) throw refuseMedia(path, 'a document', 'documents; send its text', context);
  const before: Draft[] = about === null ? [] : [{ type: 'input_text', text: about }];
  if (source.kind === 'url') return [...before, { type: 'input_file', file_url: source.url }];
  if (source.kind !== 'base64') throw refuseSource(path, 'a document', source, 'base64, a URL or text');
  return [...before, { type: 'input_file', ...renderFile(title, source) }];
}

function dropMark({ cache_mark }: { readonly cache_mark: unknown }, context: OpenaiContext): void {
  if (cache_mark !== null) context.notes.drop(callerWord(context, 'cache_marks'), 'the provider caches by itself');
}
