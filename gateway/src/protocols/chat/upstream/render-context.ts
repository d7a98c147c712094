/** Owns what the writers of one chat-completions request share: the request, its upstream, the aliases given so far, the marks set so far. */
import type { CacheMark } from '../../../generation/part.ts';
import type { Feature, GenerationRequest } from '../../../generation/request.ts';
import type { WritableJson } from '../../../wire/json-writer.ts';
import { aliasNine, aliasText } from '../../request/tool-names.ts';
import type { TranslationNotes } from '../../request/translation-notes.ts';
import type { UpstreamTraits } from '../../upstream-traits.ts';

/** A content part or a message while it is made. */
export type Draft = { [member: string]: WritableJson | undefined };

export interface RenderContext {
  readonly request: GenerationRequest;
  readonly traits: UpstreamTraits;
  readonly notes: TranslationNotes;
  /** From upstream's name of a tool to the client's, where they differ. */
  readonly restored: Map<string, string>;
  /** Parts with a breakpoint, in their order. */
  readonly marked: Draft[];
}

const TOOL_NAME_CHARS_MAX = 64;
const TOOL_ID_CHARS_MAX = 40;
const MARKS_MAX = 4;
const LOST_MARK = 'cannot be said there to the host behind this model';

export function startRendering(
  request: GenerationRequest,
  traits: UpstreamTraits,
  notes: TranslationNotes,
): RenderContext {
  return { request, traits, notes, restored: new Map(), marked: [] };
}

/** The member by which the caller asked for the feature. */
export function callerWord({ request }: RenderContext, feature: Feature): string {
  return request.named[feature] ?? feature;
}

/** The model in the caller's words, for messages. */
export function modelWord({ request }: RenderContext): string {
  return `the model ${JSON.stringify(request.model)}`;
}

/** The name under which upstream knows a tool, everywhere in the request; remembered so that the answer's calls get the client's again. */
export function upstreamName(name: string, { restored }: RenderContext): string {
  const alias = aliasText(name, TOOL_NAME_CHARS_MAX);
  if (alias !== name) restored.set(alias, name);
  return alias;
}

/** The id of a call in the form that upstream takes; the same for a call and its result. */
export function upstreamId(id: string, { traits }: RenderContext): string {
  switch (traits.chat.toolIds) {
    case 'any':
      return id;
    case 'forty':
      return aliasText(id, TOOL_ID_CHARS_MAX);
    case 'nine':
      return aliasNine(id);
  }
}

/** Whether a mark that a part has will be sent. */
export function sendsMark(mark: CacheMark | null, { traits }: RenderContext): boolean {
  return mark !== null && traits.chat.cacheMarks;
}

/** Sets the breakpoint of a part, where upstream takes it; else the mark is named as dropped. */
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

/** Names a mark on what has no place for one. */
export function dropMark(mark: CacheMark | null, context: RenderContext): void {
  if (mark !== null) context.notes.drop(callerWord(context, 'cache_marks'), LOST_MARK);
}

/** Upstream takes four marks; of more the last are kept, as they cover the most (wire reference C.7). */
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

/** Only these two can be said; the host's usual time is 30 minutes. Wire reference A.3 and C.7. */
function renderTtl({ ttlMinutes }: CacheMark): '30m' | '12h' | undefined {
  if (ttlMinutes === null || ttlMinutes < 30) return undefined;
  return ttlMinutes === 30 ? '30m' : '12h';
}
