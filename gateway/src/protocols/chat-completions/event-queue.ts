/** Owns the events that one record makes, and the numbers of the parts. After an event that ends the answer it takes no more. */
import type { GenerationEvent, PartOpening } from '../../generation/event.ts';

const NONE: readonly GenerationEvent[] = [];

export class EventQueue {
  #events: GenerationEvent[] = [];
  #parts = 0;
  #closed = false;

  /** An `end`, `error` or `nonsense` was added. */
  get closed(): boolean {
    return this.#closed;
  }

  add(event: GenerationEvent): void {
    if (this.#closed) return;
    this.#events.push(event);
    this.#closed = event.kind === 'end' || event.kind === 'error' || event.kind === 'nonsense';
  }

  /** Begins a part and gives its number. */
  begin(opening: PartOpening): number {
    const part = this.#parts;
    this.#parts += 1;
    this.add({ kind: 'part_start', part, opening });
    return part;
  }

  refuse(message: string): void {
    this.add({ kind: 'nonsense', message });
  }

  /** What was added since the last time. */
  take(): readonly GenerationEvent[] {
    if (this.#events.length === 0) return NONE;
    const events = this.#events;
    this.#events = [];
    return events;
  }
}
