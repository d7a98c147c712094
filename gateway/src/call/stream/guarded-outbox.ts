/** Sends a streamed answer as the rules of its workspace let it pass. */
import type { CallFailure } from '../../errors/call-failure.ts';
import type { StreamGuard } from '../../guardrails/stream-guard.ts';
import { type AnswerEnd, Outbox } from './outbox.ts';

const NOTHING = new Uint8Array(0);

export class GuardedOutbox extends Outbox {
  /** Null: the answer is over. */
  #guard: StreamGuard | null;
  readonly #onStopped: (failure: CallFailure) => void;
  /** Collects the last bytes of the answer; null: they go out as they come. */
  #last: Uint8Array[] | null = null;

  /** `openGuard` gets where the guard puts what may go out; `onStopped`: a rule ends the answer. */
  constructor(
    outbox: ConstructorParameters<typeof Outbox>,
    openGuard: (put: (bytes: Uint8Array) => void) => StreamGuard,
    onStopped: (failure: CallFailure) => void,
  ) {
    super(...outbox);
    this.#onStopped = onStopped;
    this.#guard = openGuard((bytes) => {
      if (this.#last === null) this.putOwn(bytes);
      else this.#last.push(bytes);
    });
  }

  override put(bytes: Uint8Array): void {
    const failure = this.#guard?.feed(bytes) ?? null;
    if (failure !== null) this.#stop(failure);
  }

  override putSpan(bytes: Uint8Array, start: number, end: number): void {
    this.put(bytes.subarray(start, end));
  }

  override finish(last: Uint8Array): AnswerEnd | Promise<AnswerEnd> {
    const guard = this.#guard;
    if (guard === null) return { last: NOTHING, failure: null };
    const collected: Uint8Array[] = [];
    this.#last = collected;
    const failure = guard.feed(last) ?? guard.finish();
    const end = (found: CallFailure | null): AnswerEnd => {
      this.#guard = null;
      return { last: Buffer.concat(collected), failure: found };
    };
    return failure instanceof Promise ? failure.then(end) : end(failure);
  }

  /** Leaves out text that a hook has not seen. */
  override finishNow(): void {
    const guard = this.#guard;
    this.#guard = null;
    if (guard?.waitsForHooks === false) void guard.finish();
  }

  override dropHeld(): void {
    this.#guard = null;
    super.dropHeld();
  }

  #stop(failure: CallFailure): void {
    if (this.#guard === null) return;
    this.#guard = null;
    this.#onStopped(failure);
  }
}
