/** Holds what the renderers of one chat-completions request share beyond OpenAI's other format: ids and cache marks. */
import type { CacheMark } from '../../../generation/part.ts';
import type { GenerationRequest } from '../../../generation/request.ts';
import { callerWord, type Draft, type OpenaiContext } from '../../openai/render-context.ts';
import { aliasText, shortToolCallId } from '../../request/tool-names.ts';
import type { TranslationNotes } from '../../request/translation-notes.ts';
import type { UpstreamTraits } from '../../upstream-traits.ts';

export interface RenderContext extends OpenaiContext {
  /** The client's names of free-text tools that are sent as functions. */
  readonly custom: Set<string>;
  /** Parts with a breakpoint, in order. */
  readonly marked: Draft[];
}

const TOOL_ID_CHARS_MAX = 40;
const MARKS_MAX = 4;
const LOST_MARK = 'cannot be said there to the host behind this model';

export function startRendering(
  request: GenerationRequest,
  traits: UpstreamTraits,
  notes: TranslationNotes,
): RenderContext {
  return { request, traits, notes, restored: new Map(), custom: new Set(), marked: [] };
}

/** The call id in the format that upstream accepts; the same for a call and its result. */
export function upstreamId(id: string, { traits }: RenderContext): string {
  switch (traits.chat.toolIds) {
    case 'any':
      return id;
    case 'forty':
      return aliasText(id, TOOL_ID_CHARS_MAX);
    case 'nine':
      return shortToolCallId(id);
  }
}

/** Whether a part's mark will be sent. */
export function sendsMark(mark: CacheMark | null, { traits }: RenderContext): boolean {
  return mark !== null && traits.chat.cacheMarks;
}

/** Sets the breakpoint of a part if upstream accepts it; else reports the mark as dropped. */
export function markPart(part: Draft, mark: CacheMark | null, context: RenderContext): Draft {
  if (mark === null) return part;
  if (!context.traits.chat.cacheMarks) {
    dropMark(mark, context);
    return part;
  }
  part.prompt_cache_breakpoint = { mode: 'explicit', ttl: renderTtl(mark) };
  context.marked.push(part);
  return part;
}

/** Reports a mark as dropped, for a place that cannot have one. */
export function dropMark(mark: CacheMark | null, context: RenderContext): void {
  if (mark !== null) context.notes.drop(callerWord(context, 'cache_marks'), LOST_MARK);
}

/** Upstream accepts four marks; the last ones are kept, as they cover the most (wire reference C.7). */
export function limitMarks(context: RenderContext): void {
  const surplus = context.marked.slice(0, -MARKS_MAX);
  for (const part of surplus) part.prompt_cache_breakpoint = undefined;
  if (surplus.length > 0) {
    context.notes.drop(
      callerWord(context, 'cache_marks'),
      `of ${context.marked.length} marks only the last ${MARKS_MAX} can be set`,
    );
  }
}

/** The only two values; the provider's default is 30 minutes. Wire reference A.3 and C.7. */
function renderTtl({ ttlMinutes }: CacheMark): '30m' | '12h' | undefined {
  if (ttlMinutes === null || ttlMinutes < 30) return undefined;
  return ttlMinutes === 30 ? '30m' : '12h';
}
