/**
 * Computes how an answer must read after it was written in a format and parsed again, and how a client of that format
 * must parse it: an independent reading of wire reference C.3 and C.7. Uses no reader or writer of the product.
 */
import type { FinishReason } from '../../../src/generation/event.ts';
import type { Generation } from '../../../src/generation/generation.ts';
import type { Citation, Native, Part } from '../../../src/generation/part.ts';
import type { Usage } from '../../../src/generation/usage.ts';
import type { Format } from './format.ts';
import { CONTEXT } from './rig.ts';

/** Price details of an answer stay in the gateway: neither format carries them. */
export function withoutPrice(usage: Usage | null): Usage | null {
  if (usage?.extras === undefined) return usage;
  const { extras, ...counters } = usage;
  const { tier: _, parts: __, ...kept } = extras;
  return Object.keys(kept).length === 0 ? counters : { ...counters, extras: kept };
}

/** In one piece, or as a stream. */
export type Form = 'plain' | 'streamed';

/** An answer without what the formats do not share: ids, upstream's own finish reason. */
export type ReadAnswer = Pick<
  Generation,
  'model' | 'parts' | 'logprobs' | 'finish_reason' | 'stop_sequence' | 'usage' | 'usageFlags' | 'complete'
>;

const BYTES_PER_TOKEN = 4;
const CUT: ReadonlySet<FinishReason> = new Set<FinishReason>(['length', 'context_window', 'refusal']);

export const CHAT_WORDS: { readonly [reason in FinishReason]: string } = {
  stop: 'stop',
  stop_sequence: 'stop',
  length: 'length',
  context_window: 'length',
  tool_calls: 'tool_calls',
  refusal: 'content_filter',
  pause: 'stop',
  other: 'stop',
};

const STOP_REASONS: { readonly [reason in FinishReason]: string } = {
  stop: 'end_turn',
  stop_sequence: 'stop_sequence',
  length: 'max_tokens',
  context_window: 'model_context_window_exceeded',
  tool_calls: 'tool_use',
  refusal: 'refusal',
  pause: 'pause_turn',
  other: 'end_turn',
};

export function finishOf({ finish_reason }: Generation): FinishReason {
  if (finish_reason === null) throw new Error('an answer that never finished');
  return finish_reason;
}

const callsTool = ({ parts }: Generation) => parts.some(({ kind }) => kind === 'tool_call');

/** `tool_use` exactly when a tool was called, unless the answer was truncated. */
export function stopReasonOf(answer: Generation): string {
  const finish = finishOf(answer);
  if (CUT.has(finish)) return STOP_REASONS[finish];
  if (callsTool(answer)) return 'tool_use';
  return finish === 'tool_calls' ? 'end_turn' : STOP_REASONS[finish];
}

/** How an answer written for a client of the format is parsed by the same format. */
export function readBack(answer: Generation, format: Format, form: Form): ReadAnswer {
  // Whatever upstream reported, the written numbers add up.
  const common = { model: answer.model ?? CONTEXT.model, usageFlags: [], complete: true };
  if (format === 'messages') {
    const finish_reason = messagesFinish(answer);
    const stop_sequence = finish_reason === 'stop_sequence' ? answer.stop_sequence : null;
    return {
      ...common,
      parts: messagesParts(answer.parts),
      finish_reason,
      stop_sequence,
      usage: messagesUsage(answer, form),
    };
  }
  const parts = chatParts(answer, form);
  return {
    ...common,
    parts,
    ...(answer.logprobs === undefined ? {} : { logprobs: answer.logprobs }),
    finish_reason: chatFinish(answer, parts),
    stop_sequence: null,
    usage: chatUsage(answer.usage),
  };
}

/** Without citations, which chat gives as offsets into the whole content: see `annotationsOf`. */
export function withoutCitations(answer: ReadAnswer): ReadAnswer {
  const parts = answer.parts.map((part): Part => (part.kind === 'text' ? { ...part, citations: [] } : part));
  return { ...answer, parts };
}

function chatParts(answer: Generation, form: Form): Part[] {
  const { parts, explanation } = answer;
  const parsed = parts.flatMap((part): Part[] => {
    if (part.kind === 'tool_call') {
      // The gateway keeps what a provider attaches to a call, and shows it to no client of chat.
      const { host_data: _, ...call } = part;
      return [{ ...call, arguments: part.arguments === '' ? '{}' : part.arguments }];
    }
    if (part.kind === 'text') return part.text === '' ? [] : [{ ...part, citations: [] }];
    if (part.kind === 'refusal') return part.text === '' ? [] : [part];
    if (part.kind !== 'reasoning' || part.text === '') return [];
    return [{ ...part, signature: null, redacted: false, issuer: null }];
  });
  const refuses = answer.finish_reason === 'refusal' && explanation && !parsed.some(({ kind }) => kind === 'refusal');
  const whole: Part[] = refuses ? [...parsed, { kind: 'refusal', text: explanation }] : parsed;
  if (form === 'streamed') return joinNeighbours(whole);
  return ['reasoning', 'text', 'refusal', 'tool_call'].flatMap((kind) =>
    joinNeighbours(whole.filter((part) => part.kind === kind)),
  );
}

/** Chat has no blocks: adjacent texts of one kind are joined. */
function joinNeighbours(parts: readonly Part[]): Part[] {
  const joined: Part[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    const isText = part.kind === 'text' || part.kind === 'refusal' || part.kind === 'reasoning';
    if (isText && last?.kind === part.kind) joined[joined.length - 1] = { ...part, text: last.text + part.text };
    else joined.push(part);
  }
  return joined;
}

function chatFinish(answer: Generation, parts: readonly Part[]): FinishReason {
  const word = CHAT_WORDS[finishOf(answer)];
  if (word === 'length') return 'length';
  if (word === 'content_filter') return 'refusal';
  if (callsTool(answer)) return 'tool_calls';
  return parts.some(({ kind }) => kind === 'refusal') ? 'refusal' : 'stop';
}

function chatUsage(usage: Usage | null): Usage | null {
  if (usage === null) return null;
  const { extras, ...tokens } = usage;
  const { server_tools: _, ...media } = extras ?? {};
  const merged = { ...tokens, cache_write_5m: usage.cache_write_5m + usage.cache_write_1h, cache_write_1h: 0 };
  return Object.keys(media).length === 0 ? merged : { ...merged, extras: media };
}

/** One of the format stays; a page becomes a search result, which is read back as the format's own. */
function messagesCitation(citation: Citation): Citation[] {
  if (citation.native?.origin === 'messages') return [citation];
  if (citation.kind !== 'url') return [];
  const { url: source, title, quote } = citation;
  const place = { search_result_index: 0, start_block_index: 0, end_block_index: 0 };
  const json = JSON.stringify({ type: 'search_result_location', cited_text: quote ?? '', source, title, ...place });
  return [{ kind: 'opaque', native: { origin: 'messages', json } }];
}

/** Everything except what only another format's issuer can read. Unsigned reasoning gets a signature of ours. */
export function messagesParts(parts: readonly Part[]): Part[] {
  return parts.flatMap((part): Part[] => {
    switch (part.kind) {
      case 'text': {
        const citations = part.citations.flatMap(messagesCitation);
        return part.text === '' && citations.length === 0 ? [] : [{ ...part, citations }];
      }
      case 'refusal':
        return part.text === '' ? [] : [{ kind: 'text', text: part.text, citations: [], cache_mark: null }];
      case 'reasoning': {
        const own = part.issuer === 'messages' ? part.signature : null;
        if (own === null && (part.redacted || part.text === '')) return [];
        return [{ ...part, signature: own ?? CONTEXT.sign(part.text), issuer: 'messages' }];
      }
      case 'tool_call': {
        const written = part.arguments.trim() === '' ? '{}' : part.arguments;
        const json = part.tool === 'custom' ? `{"input":${JSON.stringify(part.arguments)}}` : written;
        const { host_data, ...call } = part;
        return [...callData(host_data), { ...call, tool: 'function', arguments: json }];
      }
      default:
        return part.kind === 'opaque' && part.native.origin === 'messages' ? [part] : [];
    }
  });
}

/** What a provider attaches to a call precedes it, sealed. */
function callData(native: Native | undefined): Part[] {
  if (native === undefined) return [];
  const signature = CONTEXT.seal({ kind: 'call_data', native });
  return [{ kind: 'reasoning', text: '', signature, redacted: true, issuer: 'messages' }];
}

function messagesFinish(answer: Generation): FinishReason {
  const word = stopReasonOf(answer);
  const [known] = Object.entries(STOP_REASONS).find(([, reason]) => reason === word) ?? [];
  return known as FinishReason;
}

/** The kinds with a member in messages; audio and images have none. */
const MESSAGES_TOOLS = ['web_search', 'web_fetch'];

/** Without upstream's counters a byte count is used. A stream's last usage does not split cache writes. */
export function messagesUsage({ usage, parts }: Generation, form: Form): Usage {
  if (usage === null) {
    const bytes = parts.reduce((sum, part) => sum + bytesOf(part), 0);
    const output = Math.ceil(bytes / BYTES_PER_TOKEN);
    return { input: 0, cache_read: 0, cache_write_5m: 0, cache_write_1h: 0, output, reasoning: 0 };
  }
  const { extras, ...tokens } = usage;
  const ran = Object.entries(extras?.server_tools ?? {}).filter(([kind]) => MESSAGES_TOOLS.includes(kind));
  const kept = ran.length === 0 ? tokens : { ...tokens, extras: { server_tools: Object.fromEntries(ran) } };
  if (form === 'plain') return kept;
  return { ...kept, cache_write_5m: usage.cache_write_5m + usage.cache_write_1h, cache_write_1h: 0 };
}

function bytesOf(part: Part): number {
  if (part.kind === 'tool_call') return Buffer.byteLength(part.arguments);
  return part.kind === 'text' || part.kind === 'refusal' || part.kind === 'reasoning'
    ? Buffer.byteLength(part.text)
    : 0;
}

/** The `url_citation`s of an answer: offsets into the joined text; a citation without a place covers its whole part. */
export function annotationsOf(parts: readonly Part[]): unknown[] {
  let start = 0;
  return parts.flatMap((part) => {
    if (part.kind !== 'text') return [];
    const from = start;
    start += part.text.length;
    const cite = (citation: Citation) => {
      if (citation.kind !== 'url') return [];
      const end_index = from + (citation.end ?? part.text.length);
      return [{ start_index: from + (citation.start ?? 0), end_index, title: citation.title ?? '', url: citation.url }];
    };
    return part.citations.flatMap(cite);
  });
}
