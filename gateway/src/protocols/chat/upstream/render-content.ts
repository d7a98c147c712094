/** Renders the content parts of users (text, images, audio, files) and the messages of tool results. */
import type { DocumentPart, MediaPart, Part, Source, ToolResultPart } from '../../../generation/part.ts';
import { refuseMember } from '../../request/translation-notes.ts';
import {
  type Draft,
  dropMark,
  markPart,
  modelWord,
  type RenderContext,
  sendsMark,
  upstreamId,
} from './render-context.ts';

/** `path` is the turn's. Throws CallFailure for content that the model or provider does not accept. */
export function renderPart(part: Part, path: string, context: RenderContext): Draft[] {
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
export function renderContent(parts: Draft[]): string | Draft[] {
  const [only] = parts;
  if (only === undefined) return '';
  const plain = parts.length === 1 && only.type === 'text' && only.prompt_cache_breakpoint === undefined;
  return plain && typeof only.text === 'string' ? only.text : parts;
}

function renderImage({ source, detail }: MediaPart, path: string, context: RenderContext): Draft {
  if (context.traits.takes.image === false) throw refusal(path, 'an image', 'images', context);
  if (source.kind !== 'base64' && source.kind !== 'url') throw badSource(path, 'an image', source, 'base64 or a URL');
  const url = source.kind === 'url' ? source.url : dataUrl(source);
  return { type: 'image_url', image_url: { url, detail: detail ?? undefined } };
}

function renderAudio({ source }: MediaPart, path: string, context: RenderContext): Draft {
  if (context.traits.takes.audio === false) throw refusal(path, 'sound', 'sound', context);
  if (source.kind !== 'base64') throw badSource(path, 'sound', source, 'base64');
  const format = source.media_type === 'audio/mpeg' ? 'mp3' : source.media_type.replace(/^audio\//, '');
  return { type: 'input_audio', input_audio: { data: source.base64, format } };
}

/** A text document is sent as text under its title. The context of a file is sent as a text part before it. */
function renderDocument(part: DocumentPart, path: string, context: RenderContext): Draft[] {
  const { source, title, context: about, cites, cache_mark } = part;
  if (cites) context.notes.drop('citations', `${modelWord(context)} cannot cite documents`);
  if (source.kind === 'text') {
    const text = [title === null ? null : `Document: ${title}`, about, source.text].filter((line) => line !== null);
    return [markPart({ type: 'text', text: text.join('\n\n') }, cache_mark, context)];
  }
  if (source.kind !== 'base64') throw badSource(path, 'a document', source, 'base64 or text');
  const { files } = context.traits.chat;
  if (!files || context.traits.takes.pdf === false)
    throw refusal(path, 'a document', 'documents; send its text', context);
  const file: Draft = {
    type: 'file',
    file: { filename: fileName(title, source.media_type), file_data: dataUrl(source) },
  };
  const before: Draft[] = about === null ? [] : [{ type: 'text', text: about }];
  return [...before, markPart(file, cache_mark, context)];
}

/** Upstream recognizes a PDF by its file extension. */
function fileName(title: string | null, media_type: string): string {
  if (media_type !== 'application/pdf') return title ?? 'document';
  return title === null ? 'document.pdf' : title.toLowerCase().endsWith('.pdf') ? title : `${title}.pdf`;
}

function dataUrl({ media_type, base64 }: Extract<Source, { kind: 'base64' }>): string {
  return `data:${media_type};base64,${base64}`;
}

function refusal(path: string, found: string, lacking: string, context: RenderContext) {
  return refuseMember(path, `holds ${found}, but ${modelWord(context)} takes no ${lacking}`);
}

function badSource(path: string, found: string, source: Source, expected: string) {
  const where =
    source.kind === 'file'
      ? `the file ${JSON.stringify(source.id)}, which only its own host knows`
      : `a ${source.kind}`;
  return refuseMember(path, `holds ${found} given as ${where}; send it as ${expected}`);
}

/** Chat completions has no member for a failed result, so the text says it. */
const ERROR_PREFIX = '[tool error] ';
const NO_TEXT = '(this result is in the next message)';

interface RenderedResult {
  readonly message: Draft;
  /** Labeled images and files, sent after all results of the run. Empty: none. */
  readonly media: readonly Draft[];
}

/** `path` is the turn's. */
export function renderResult(result: ToolResultPart, path: string, context: RenderContext): RenderedResult {
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
export function joinTexts(parts: Draft[], gap: string): string | Draft[] {
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
