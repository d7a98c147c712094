/** Owns telling a whole answer as the events that fold to it, for renderers that know only events. */
import { type GenerationEvent, type PartOpening, usageEvent } from './event.ts';
import type { Generation } from './generation.ts';
import type { Part } from './part.ts';

/** Events in their order, each part in one delta. Parts that an answer cannot have (results, media, documents) throw. */
export function unfoldGeneration(generation: Generation): GenerationEvent[] {
  const { id, model, finish_reason, stop_sequence, reported, explanation, usage } = generation;
  const events: GenerationEvent[] = [{ kind: 'start', id, model }];
  for (const [index, part] of generation.parts.entries()) events.push(...unfoldPart(index, part));
  if (finish_reason !== null) events.push({ kind: 'finish', finish_reason, stop_sequence, reported, explanation });
  if (usage !== null) events.push(usageEvent({ usage, flags: generation.usageFlags }));
  if (generation.complete) events.push({ kind: 'end' });
  return events;
}

function unfoldPart(index: number, part: Part): GenerationEvent[] {
  const events: GenerationEvent[] = [{ kind: 'part_start', part: index, opening: openingOf(part) }];
  if (part.kind === 'tool_call') {
    if (part.arguments !== '') events.push({ kind: 'arguments_delta', part: index, text: part.arguments });
    if (part.host_data !== undefined) events.push({ kind: 'host_data', part: index, native: part.host_data });
  } else if (part.kind !== 'opaque' && 'text' in part && part.text !== '') {
    events.push({ kind: 'text_delta', part: index, text: part.text });
  }
  if (part.kind === 'text') {
    for (const citation of part.citations) events.push({ kind: 'citation', part: index, citation });
  }
  if (part.kind === 'reasoning' && part.signature !== null) {
    events.push({ kind: 'signature', part: index, signature: part.signature });
  }
  events.push({ kind: 'part_end', part: index });
  return events;
}

function openingOf(part: Part): PartOpening {
  switch (part.kind) {
    case 'text':
    case 'refusal':
      return { kind: part.kind };
    case 'reasoning':
      return { kind: 'reasoning', redacted: part.redacted, issuer: part.issuer };
    case 'tool_call':
      return { kind: 'tool_call', id: part.id, name: part.name, tool: part.tool };
    case 'opaque':
      return { kind: 'opaque', part };
    default:
      throw new Error(`a model's answer has no ${part.kind}`);
  }
}
