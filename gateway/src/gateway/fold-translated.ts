/** Owns reading an upstream's stream of another format as the client's answer in one piece, through the canonical language. */
import type { GenerationEvent } from '../generation/event.ts';
import type { EventPipe } from '../generation/filters/chain.ts';
import { GenerationFold } from '../generation/generation.ts';
import type { StreamParser, StreamRenderer } from '../protocols/codec.ts';
import { TranslatingObserver } from '../protocols/translating-observer.ts';
import type { Folding, Translation } from './upstream-call.ts';

/** Nobody gets a stream. */
const SILENT: StreamRenderer = { push: () => '', skipped: () => undefined, finish_reason: null, violation: null };

export function foldTranslated(parser: StreamParser, filter: EventPipe, translation: Translation): Folding {
  const fold = new GenerationFold();
  const parts = new OpenParts(parser);
  const observer = new TranslatingObserver({
    parser: parts,
    filter,
    filtersText: true,
    renderer: SILENT,
    deltaMembers: [],
    onEvent: (event) => fold.push(event),
  });
  return {
    observer,
    take: () => undefined,
    finish(cut) {
      if (cut !== null) {
        for (const event of filter(parts.end())) fold.push(event);
        fold.push({ kind: 'usage', usage: cut });
      }
      const generation = fold.result();
      const { json, finish_reason } = translation.client.codec.renderAnswer(generation, translation.context);
      translation.listen(generation);
      return { json, finish_reason, dropped: translation.lossesIn(generation) };
    },
  };
}

/** A parser that knows which parts have begun and not ended, so that they can be ended for it. */
class OpenParts implements StreamParser {
  readonly #parser: StreamParser;
  readonly #open = new Set<number>();
  #finished = false;

  constructor(parser: StreamParser) {
    this.#parser = parser;
  }

  get isUsageFinal(): boolean {
    return this.#parser.isUsageFinal;
  }

  push(record: Parameters<StreamParser['push']>[0]): readonly GenerationEvent[] {
    return this.#note(this.#parser.push(record));
  }

  finish(): readonly GenerationEvent[] {
    return this.#note(this.#parser.finish());
  }

  /** What ends an answer that was cut here, by a limit of tokens as far as anybody can tell. */
  end(): readonly GenerationEvent[] {
    const ends = [...this.#open].map((part): GenerationEvent => ({ kind: 'part_end', part }));
    if (this.#finished) return [...ends, { kind: 'end' }];
    const finish = { finish_reason: 'length', stop_sequence: null, reported: null, explanation: null } as const;
    return [...ends, { kind: 'finish', ...finish }, { kind: 'end' }];
  }

  #note(events: readonly GenerationEvent[]): readonly GenerationEvent[] {
    for (const event of events) {
      if (event.kind === 'part_start') this.#open.add(event.part);
      else if (event.kind === 'part_end') this.#open.delete(event.part);
      else if (event.kind === 'finish') this.#finished = true;
    }
    return events;
  }
}
