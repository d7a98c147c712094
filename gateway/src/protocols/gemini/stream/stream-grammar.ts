/** Checks the order of the chunks of one candidate: content, one finish reason, and then only counters. */

export type GeminiStep = 'content' | 'finish' | 'end';

export class GeminiGrammar {
  #state: 'open' | 'finished' | 'ended' = 'open';

  /** Describes why the step is out of order, and ignores it; null: it is in order. */
  check(step: GeminiStep): string | null {
    if (this.#state === 'ended') return `${step} came after the end`;
    if (step === 'end') {
      if (this.#state === 'open') return 'the stream ended without a finish reason';
      this.#state = 'ended';
      return null;
    }
    if (this.#state === 'finished')
      return `${step === 'content' ? 'a part' : 'a finish reason'} came after the finish reason`;
    if (step === 'finish') this.#state = 'finished';
    return null;
  }

  /** Another hop of the same answer follows. */
  continue(): void {
    this.#state = 'open';
  }
}
