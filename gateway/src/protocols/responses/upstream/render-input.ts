/**
 * Renders turns as the items of a Responses request: instructions as messages of the developer, calls and their results
 * as items of their own, sealed reasoning where it was. Source: specification of the Responses API, F.4.
 */
import type { DocumentPart, MediaPart, Part, Source, ToolResultPart } from '../../../generation/part.ts';
import type { Turn } from '../../../generation/request.ts';
import { RawJson, type WritableJson } from '../../../wire/json-writer.ts';
import { isAttribution } from '../../request/join-turns.ts';
import { aliasText } from '../../request/tool-names.ts';
import { refuseMember } from '../../request/translation-notes.ts';
import { callerWord, type Draft, modelWord, type RenderContext, upstreamName } from './render-context.ts';

const CALL_ID_CHARS_MAX = 64;
const ERROR_PREFIX = '[tool error] ';

/** Calls by id, to know the form of their results. */
type Calls = Map<string, 'function' | 'custom'>;

/** Throws CallFailure that names the turn for content that the target does not take. */
export function renderInput(context: RenderContext): WritableJson[] {
  const items: WritableJson[] = [];
  const calls: Calls = new Map();
  for (const turn of context.request.turns) {
    if (turn.role === 'assistant') items.push(...renderAssistant(turn, calls, context));
    else if (turn.role === 'user') items.push(...renderUser(turn, calls, context));
    else
      items.push(
        ...message(
          'developer',
          renderParts(
            turn.parts.filter((part) => !isAttribution(part)),
            turn.path,
            context,
          ),
        ),
      );
  }
  return items;
}

function message(role: string, content: Draft[]): Draft[] {
  return content.length === 0 ? [] : [{ type: 'message', role, content }];
}

/** Results come first, whatever precedes them in the turn. */
function renderUser(turn: Turn, calls: Calls, context: RenderContext): Draft[] {
  const results = turn.parts.filter((part) => part.kind === 'tool_result');
  const others = turn.parts.filter((part) => part.kind !== 'tool_result');
  const rendered = results.map((result) => renderResult(result, turn.path, calls, context));
  return [...rendered, ...message('user', renderParts(others, turn.path, context))];
}

function renderResult(result: ToolResultPart, path: string, calls: Calls, context: RenderContext): Draft {
  const form = calls.get(result.call_id);
  if (form === undefined) {
    const id = JSON.stringify(result.call_id.slice(0, 64));
    throw refuseMember(path, `answers the tool call ${id}, which no turn before it makes; send the call first`);
  }
  dropMark(result, context);
  const parts = renderParts(result.parts, path, context);
  if (result.is_error) parts.unshift({ type: 'input_text', text: ERROR_PREFIX });
  const isText = parts.every(({ type }) => type === 'input_text');
  const output = isText ? parts.map(({ text }) => text).join('') : parts;
  const call_id = aliasText(result.call_id, CALL_ID_CHARS_MAX);
  return { type: form === 'custom' ? 'custom_tool_call_output' : 'function_call_output', call_id, output };
}

/** Texts that nothing separates are one message. */
function renderAssistant(turn: Turn, calls: Calls, context: RenderContext): WritableJson[] {
  const items: WritableJson[] = [];
  let spoken: Draft[] = [];
  const flush = () => {
    items.push(...message('assistant', spoken));
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
        if (part.tool === 'custom') items.push({ type: 'custom_tool_call', ...call, input: part.arguments });
        else items.push({ type: 'function_call', ...call, arguments: part.arguments === '' ? '{}' : part.arguments });
        break;
      }
      case 'opaque':
        if (part.native.origin === 'responses' && part.type === 'reasoning') {
          flush();
          items.push(new RawJson(part.native.json));
        } else if (part.words !== null) spoken.push({ type: 'output_text', text: part.words });
        break;
      // Only sealed reasoning can be sent, which comes as its own item.
      case 'reasoning':
        break;
      default:
        throw refuseMember(turn.path, `holds a part (${part.kind}) that an assistant's message cannot have here`);
    }
  }
  flush();
  return items;
}

function renderParts(parts: readonly Part[], path: string, context: RenderContext): Draft[] {
  return parts.flatMap((part): Draft[] => {
    if ('cache_mark' in part) dropMark(part, context);
    switch (part.kind) {
      case 'text':
        return [{ type: 'input_text', text: part.text }];
      case 'image':
        return [renderImage(part, path, context)];
      case 'document':
        return renderDocument(part, path, context);
      case 'opaque':
        return part.words === null ? [] : [{ type: 'input_text', text: part.words }];
      default:
        throw refuseMember(path, `holds a part (${part.kind}) that cannot be sent to ${modelWord(context)}`);
    }
  });
}

function renderImage({ source, detail }: MediaPart, path: string, context: RenderContext): Draft {
  if (context.traits.takes.image === false)
    throw refuseMember(path, `holds an image, but ${modelWord(context)} takes no images`);
  if (source.kind !== 'base64' && source.kind !== 'url') throw badSource(path, 'an image', 'base64 or a URL');
  return { type: 'input_image', image_url: addressOf(source), detail: detail ?? undefined };
}

/** A text document is sent as text under its title. */
function renderDocument(
  { source, title, context: about, cites }: DocumentPart,
  path: string,
  context: RenderContext,
): Draft[] {
  if (cites) context.notes.drop('citations', `${modelWord(context)} cannot cite documents`);
  if (source.kind === 'text') {
    const text = [title === null ? null : `Document: ${title}`, about, source.text].filter((line) => line !== null);
    return [{ type: 'input_text', text: text.join('\n\n') }];
  }
  if (context.traits.takes.pdf === false)
    throw refuseMember(path, `holds a document, but ${modelWord(context)} takes no documents; send its text`);
  const before: Draft[] = about === null ? [] : [{ type: 'input_text', text: about }];
  if (source.kind === 'url') return [...before, { type: 'input_file', file_url: source.url }];
  if (source.kind !== 'base64') throw badSource(path, 'a document', 'base64, a URL or text');
  return [...before, { type: 'input_file', filename: title ?? 'document.pdf', file_data: addressOf(source) }];
}

function addressOf(source: Extract<Source, { kind: 'base64' | 'url' }>): string {
  return source.kind === 'url' ? source.url : `data:${source.media_type};base64,${source.base64}`;
}

function badSource(path: string, found: string, expected: string) {
  return refuseMember(path, `holds ${found} by an id that only its own host knows; send it as ${expected}`);
}

function dropMark({ cache_mark }: { readonly cache_mark: unknown }, context: RenderContext): void {
  if (cache_mark !== null) context.notes.drop(callerWord(context, 'cache_marks'), 'the provider caches by itself');
}
