/**
 * Normalizes the parts of a turn to what every format on the request's path carries, so that before and after can be
 * compared. Written from wire reference C.1, C.2 and C.7, not from the renderers.
 */
import type {
  CacheMark,
  DocumentPart,
  Part,
  ReasoningPart,
  Source,
  ToolResultPart,
} from '../../../../src/generation/part.ts';
import type { Format } from '../format.ts';

/** The formats a request passed through; `marksLost`: the loss of cache marks was reported. */
export interface Way {
  readonly through: ReadonlySet<Format>;
  readonly marksLost: boolean;
}

/** A part for comparison, without members that a format on the path lacks. */
export type CarriedPart = { readonly kind: string; readonly text?: string; readonly mark?: unknown } & {
  readonly [member: string]: unknown;
};

const ATTRIBUTION = 'x-anthropic-billing-header:';

export function carriedMark(mark: CacheMark | null, { through, marksLost }: Way): unknown {
  if (mark === null || marksLost) return null;
  const { ttlMinutes } = mark;
  if (ttlMinutes === null || ttlMinutes <= 5) return 'short';
  return through.has('messages') || ttlMinutes !== 30 ? 'long' : 'half an hour';
}

/** The content of a system turn; chat joins it into one text. */
export function carriedInstructions(parts: readonly Part[], way: Way): CarriedPart[] {
  if (!way.through.has('chat')) return parts.flatMap((part) => carriedSaid(part, way));
  const kept = parts.filter((part) => part.kind !== 'text' || !part.text.startsWith(ATTRIBUTION));
  return joined(
    kept.flatMap((part) => carriedSaid(part, way)),
    '\n\n',
  );
}

/** User content other than tool results. */
export function carriedSaid(part: Part, way: Way): CarriedPart[] {
  const [chat, messages] = [way.through.has('chat'), way.through.has('messages')];
  switch (part.kind) {
    case 'text': {
      if (messages && part.text.trim() === '') return [];
      const cited = chat ? {} : { citations: part.citations };
      return [{ kind: 'text', text: part.text, mark: carriedMark(part.cache_mark, way), ...cited }];
    }
    case 'image':
    case 'audio': {
      const detail = messages ? {} : { detail: part.detail };
      const source = carriedSource(part.source, messages);
      return [{ kind: part.kind, source, mark: carriedMark(part.cache_mark, way), ...detail }];
    }
    case 'document':
      return carriedDocument(part, way);
    case 'refusal':
      return [{ kind: messages ? 'text' : 'refusal', text: part.text, mark: null, ...(chat ? {} : { citations: [] }) }];
    case 'opaque':
      if (!chat) return [{ kind: 'opaque', json: part.native.json }];
      return part.words === null ? [] : [{ kind: 'text', text: part.words, mark: null, inPlaceOf: 'opaque' }];
    default:
      throw new Error(`a ${part.kind} is not said by a user`);
  }
}

/** Messages detects an image's type from its bytes, whatever the declared type. */
function carriedSource(source: Source, messages: boolean): unknown {
  return messages && source.kind === 'base64' ? { kind: 'base64', base64: source.base64 } : source;
}

/** Chat has no context member for files and reduces text documents to text; Anthropic cites, chat cannot. */
function carriedDocument(part: DocumentPart, way: Way): CarriedPart[] {
  const { source, title, context, cites } = part;
  const mark = carriedMark(part.cache_mark, way);
  if (!way.through.has('chat')) return [{ kind: 'document', source, title, context, cites, mark }];
  if (source.kind === 'text') {
    const lines = [title === null ? [] : [`Document: ${title}`], context ?? [], source.text].flat();
    return [{ kind: 'text', text: lines.join('\n\n'), mark }];
  }
  const isPdf = source.kind === 'base64' && source.media_type === 'application/pdf';
  const name = isPdf && !/\.pdf$/i.test(title ?? '') ? `${title ?? 'document'}.pdf` : (title ?? 'document');
  const before: CarriedPart[] = context === null ? [] : [{ kind: 'text', text: context, mark: null }];
  return [...before, { kind: 'document', source, title: name, mark }];
}

/**
 * Joins texts up to each cache mark; a part between them also ends a text. The replacement of an opaque part has its
 * own line.
 */
function joined(parts: readonly CarriedPart[], gap: string): CarriedPart[] {
  const texts: Array<CarriedPart & { readonly text: string }> = [];
  let open = false;
  let follows = false;
  for (const { text = '', mark = null, inPlaceOf } of parts) {
    const line = gap === '' && texts.length > 0 && (follows || inPlaceOf !== undefined) ? '\n' : '';
    follows = inPlaceOf !== undefined;
    const last = texts.at(-1);
    if (open && last !== undefined)
      texts[texts.length - 1] = { kind: 'text', text: last.text + gap + line + text, mark };
    else texts.push({ kind: 'text', text: line + text, mark });
    open = mark === null;
  }
  return texts;
}

/** Chat orders reasoning, text, refusal and calls; messages keeps the original order. */
export function carriedSpeech(parts: readonly Part[], way: Way, idOf: (id: string) => string): CarriedPart[] {
  const [chat, messages] = [way.through.has('chat'), way.through.has('messages')];
  const one = (part: Part): CarriedPart[] => {
    if (part.kind === 'reasoning') return carriedReasoning(part, way);
    if (part.kind === 'tool_call') return [carriedCall(part, way, idOf)];
    return carriedSaid(part, way);
  };
  if (!chat) return parts.flatMap(one);
  const of = (...kinds: readonly Part['kind'][]) => parts.filter(({ kind }) => kinds.includes(kind)).flatMap(one);
  const spoken = joined([...of('text', 'opaque'), ...(messages ? of('refusal') : [])], '').filter(
    ({ text }) => text !== '',
  );
  const thought = of('reasoning')
    .map(({ text }) => text)
    .join('\n\n');
  const refusal = messages
    ? ''
    : of('refusal')
        .map(({ text }) => text)
        .join('');
  return [
    ...(thought === '' ? [] : [{ kind: 'reasoning', text: thought }]),
    ...spoken,
    ...(refusal === '' ? [] : [{ kind: 'refusal', text: refusal }]),
    ...of('tool_call'),
  ];
}

/**
 * Only the issuer of a signature accepts it back, and where no signature is required only the text is sent; through
 * both nothing remains.
 */
function carriedReasoning({ text, signature, redacted, issuer }: ReasoningPart, { through }: Way): CarriedPart[] {
  const signed = issuer === 'messages' && signature !== null && !signature.startsWith('gw1.');
  if (!through.has('chat')) return signed ? [{ kind: 'reasoning', text, signature, redacted }] : [];
  return through.has('messages') || redacted || text === '' ? [] : [{ kind: 'reasoning', text }];
}

/** Messages has no free-text input: it becomes the single argument of a function. Chat has no cache mark on a call. */
function carriedCall(call: Extract<Part, { kind: 'tool_call' }>, way: Way, idOf: (id: string) => string): CarriedPart {
  const wraps = call.tool === 'custom' && way.through.has('messages');
  const tool = wraps ? 'function' : call.tool;
  const written = tool === 'function' && call.arguments.trim() === '' ? '{}' : call.arguments;
  const mark = way.through.has('chat') ? {} : { mark: carriedMark(call.cache_mark, way) };
  const json = wraps ? JSON.stringify({ input: call.arguments }) : written;
  return { kind: 'tool_call', id: idOf(call.id), name: call.name, tool, arguments: json, ...mark };
}

/**
 * Chat has no member for an error or for a cache mark on the whole. Pure texts are one text, and an empty one is
 * omitted.
 */
export function carriedResult(result: ToolResultPart, way: Way, idOf: (id: string) => string): CarriedPart {
  const id = idOf(result.call_id);
  const chat = way.through.has('chat');
  const [only] = result.parts;
  const isOneText = result.parts.length === 1 && only?.kind === 'text';
  // A single text is written unchanged, even if blank.
  const parts = isOneText
    ? [{ kind: 'text', text: only.text, mark: carriedMark(only.cache_mark, way) }]
    : result.parts.flatMap((part) => carriedSaid(part, way));
  const mark = carriedMark(result.cache_mark, way);
  if (!chat) return { kind: 'tool_result', id, parts: withoutEmpty(parts), is_error: result.is_error, mark };
  const marked = withLastMark(result.is_error ? withErrorWord(parts) : parts, mark);
  const isText = marked.every(({ kind }) => kind === 'text');
  return { kind: 'tool_result', id, parts: withoutEmpty(isText ? joined(marked, '\n') : marked) };
}

function withErrorWord(parts: readonly CarriedPart[]): readonly CarriedPart[] {
  const [first, ...rest] = parts;
  if (first?.kind !== 'text') return [{ kind: 'text', text: '[tool error]', mark: null }, ...parts];
  return [{ ...first, text: `[tool error] ${first.text}` }, ...rest];
}

function withLastMark(parts: readonly CarriedPart[], mark: unknown): readonly CarriedPart[] {
  const last = parts.at(-1);
  return mark === null || last === undefined ? parts : [...parts.slice(0, -1), { ...last, mark: last.mark ?? mark }];
}

function withoutEmpty(parts: readonly CarriedPart[]): readonly CarriedPart[] {
  return parts.filter(({ kind, text, mark }) => kind !== 'text' || text !== '' || mark !== null).map(bare);
}

/** Citations of a text in a result are ignored in the comparison. */
function bare({ citations, inPlaceOf: _, ...part }: CarriedPart): CarriedPart {
  return Array.isArray(citations) && citations.length > 0
    ? { ...part, kind: part.kind, citations }
    : { ...part, kind: part.kind };
}
