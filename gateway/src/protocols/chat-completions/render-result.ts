/**
 * Owns writing the result of a tool call: a `tool` message, which officially holds text alone, and what of it has to follow in a
 * user's message. Wire reference C.2; vector 37.
 */
import type { ToolResultPart } from '../../generation/part.ts';
import { renderContent, renderPart } from './render-content.ts';
import { type Draft, dropMark, markPart, type RenderContext, sendsMark, upstreamId } from './render-context.ts';

/** C has no member for it, so the model is told in words. */
const ERROR_PREFIX = '[tool error] ';
const NO_TEXT = '(this result is in the next message)';

export interface RenderedResult {
  readonly message: Draft;
  /** Images and files, labelled; to be sent after all results of the run. Empty: none. */
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

/** Texts become one string, unless there is more than text or a mark must keep its place. */
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

/** A mark on the whole result stands on its last part; a result that says nothing has no place for one. */
function markResult(spoken: Draft[], { cache_mark }: ToolResultPart, context: RenderContext): void {
  const last = spoken.at(-1);
  if (last === undefined || !sendsMark(cache_mark, context)) dropMark(cache_mark, context);
  else if (last.prompt_cache_breakpoint === undefined) markPart(last, cache_mark, context);
}
