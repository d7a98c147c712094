/** Builds the events of event filter tests, splits their deltas at other places and joins them again. */
import fc from 'fast-check';
import type { EventFilter, FinishReason, GenerationEvent, PartOpening } from '../event.ts';

/** The events of a part with one delta per text. */
export function partEvents(part: number, opening: PartOpening, ...pieces: readonly string[]): GenerationEvent[] {
  const kind = opening.kind === 'tool_call' ? 'arguments_delta' : 'text_delta';
  return [
    { kind: 'part_start', part, opening },
    ...pieces.filter((text) => text !== '').map((text): GenerationEvent => ({ kind, part, text })),
    { kind: 'part_end', part },
  ];
}

/** The opening of a function call. */
export function callOpening(name: string, id = `call_${name}`): Extract<PartOpening, { kind: 'tool_call' }> {
  return { kind: 'tool_call', id, name, tool: 'function' };
}

export function finishEvent(finish_reason: FinishReason, stop_sequence: string | null = null): GenerationEvent {
  return { kind: 'finish', finish_reason, stop_sequence, reported: null, explanation: null };
}

export function pushAll(filter: EventFilter, events: readonly GenerationEvent[]): GenerationEvent[] {
  return events.flatMap((event) => [...filter.push(event)]);
}

/** The same events with each delta split into pieces of `cuts` code units, used cyclically. */
export function splitDeltas(events: readonly GenerationEvent[], cuts: readonly number[]): GenerationEvent[] {
  let next = 0;
  return events.flatMap((event) => {
    if (event.kind !== 'text_delta' && event.kind !== 'arguments_delta') return [event];
    const pieces: GenerationEvent[] = [];
    for (let at = 0; at < event.text.length; ) {
      const chars = Math.max(1, cuts[next++ % cuts.length] ?? 1);
      pieces.push({ ...event, text: event.text.slice(at, at + chars) });
      at += chars;
    }
    return pieces;
  });
}

/** The same events with adjacent deltas of a part joined. */
export function joinDeltas(events: readonly GenerationEvent[]): GenerationEvent[] {
  const joined: GenerationEvent[] = [];
  for (const event of events) {
    const last = joined.at(-1);
    const isDelta = event.kind === 'text_delta' || event.kind === 'arguments_delta';
    if (isDelta && last?.kind === event.kind && last.part === event.part) {
      joined[joined.length - 1] = { ...event, text: last.text + event.text };
    } else joined.push(event);
  }
  return joined;
}

export const cutsArbitrary = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 6 });
