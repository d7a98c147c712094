/** Owns how a part of an answer is written in deltas: its beginning and each piece of it. Keeps no order between parts. */
import type { PartOpening } from '../../generation/event.ts';
import type { Citation } from '../../generation/part.ts';
import { type WritableJson, writeJson } from '../../wire/json-writer.ts';
import type { ChunkFrame } from './chunk-frame.ts';
import type { ChatStep } from './stream-grammar.ts';

/** A part that is being written. A piece of it is `before`, the JSON of the text, `after`. */
export interface OpenPart {
  readonly opening: Exclude<PartOpening, { readonly kind: 'opaque' }>;
  /** What each piece does. */
  readonly step: ChatStep;
  readonly before: string;
  readonly after: string;
  /** Of a text: where it begins in the whole content. */
  readonly contentStart: number;
  readonly citations: Citation[];
  /** UTF-16 units written so far. */
  chars: number;
}

const CONTENT: ChatStep = { kind: 'content' };
const TEXT_MEMBERS = { text: 'content', refusal: 'refusal', reasoning: 'reasoning_content' } as const;

/** `toolIndex` is the number of a tool call among the calls, as its pieces name it. */
export function openPart(
  opening: OpenPart['opening'],
  frame: ChunkFrame,
  toolIndex: number,
  contentStart: number,
): OpenPart {
  const rest = { opening, contentStart, citations: [], chars: 0 };
  if (opening.kind !== 'tool_call') {
    const before = `${frame.before}{"${TEXT_MEMBERS[opening.kind]}":`;
    return { ...rest, step: CONTENT, before, after: `}${frame.after}` };
  }
  const member = opening.tool === 'custom' ? '"custom":{"input":' : '"function":{"arguments":';
  const before = `${frame.before}{"tool_calls":[{"index":${toolIndex},${member}`;
  return { ...rest, step: { kind: 'tool_fragment', index: toolIndex }, before, after: `}}]}${frame.after}` };
}

/** The delta in which a tool call begins: its id, type and name, and no argument yet. */
export function renderToolStart(opening: Extract<PartOpening, { kind: 'tool_call' }>, index: number): string {
  const { id, name, tool } = opening;
  const body: WritableJson = tool === 'custom' ? { name, input: '' } : { name, arguments: '' };
  return writeJson({ tool_calls: [{ index, id, type: tool, [tool]: body }] });
}
