/** Chains event filters, so that each receives the output of the previous one. */
import type { EventFilter, GenerationEvent } from '../event.ts';

/** Takes events as they arrive and returns those that remain. */
export type EventPipe = (events: readonly GenerationEvent[]) => readonly GenerationEvent[];

/** Applies the filters in order, the first nearest to upstream. Without a filter the events are returned unchanged. */
export function chainFilters(filters: readonly EventFilter[]): EventPipe {
  if (filters.length === 0) return (events) => events;
  return (events) => {
    let current = events;
    for (const filter of filters) current = pushAll(filter, current);
    return current;
  };
}

function pushAll(filter: EventFilter, events: readonly GenerationEvent[]): readonly GenerationEvent[] {
  const [only] = events;
  if (only === undefined) return events;
  if (events.length === 1) return filter.push(only);
  const passed: GenerationEvent[] = [];
  for (const event of events) for (const left of filter.push(event)) passed.push(left);
  return passed;
}
