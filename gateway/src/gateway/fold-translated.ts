/** Folds an upstream's stream of another format into the client's answer in one piece, through the canonical events. */
import type { GenerationEvent } from '../generation/event.ts';
import type { EventPipe } from '../generation/filters/chain.ts';
import { GenerationFold } from '../generation/generation.ts';
import type { StreamParser, StreamRenderer } from '../protocols/codec.ts';
import { TranslatingObserver } from '../protocols/translating-observer.ts';
import type { Folding, Translation } from './upstream-call.ts';

/** The client gets no stream. */
const SILENT: StreamRenderer = { push: () => '', skipped: () => undefined, finish_reason: null, violation: null };

export function foldTranslated(parser: StreamParser, filter: EventPipe, translation: Translation): Folding {
  const fold = new GenerationFold();
  const openParts = new Set<number>();
  let isFinished = false;
  const observer = new TranslatingObserver({
    parser,
    filter(events) {
      for (const event of events) {
        if (event.kind === 'part_start') openParts.add(event.part);
        else if (event.kind === 'part_end') openParts.delete(event.part);
        else if (event.kind === 'finish') isFinished = true;
      }
      return filter(events);
    },
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
        for (const event of filter(endOfCut(openParts, isFinished))) fold.push(event);
        fold.push({ kind: 'usage', usage: cut });
      }
      const generation = fold.result();
      const { json, finish_reason } = translation.client.codec.renderAnswer(generation, translation.context);
      translation.listen(generation);
      return { json, finish_reason, dropped: translation.lossesIn(generation) };
    },
  };
}

/** Ends an answer that was cut, as far as anyone can tell by a limit of tokens. */
function endOfCut(openParts: ReadonlySet<number>, isFinished: boolean): readonly GenerationEvent[] {
  const ends = [...openParts].map((part): GenerationEvent => ({ kind: 'part_end', part }));
  if (isFinished) return [...ends, { kind: 'end' }];
  const finish = { finish_reason: 'length', stop_sequence: null, reported: null, explanation: null } as const;
  return [...ends, { kind: 'finish', ...finish }, { kind: 'end' }];
}
