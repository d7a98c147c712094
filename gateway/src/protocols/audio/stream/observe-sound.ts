/** Observes an answer that is sound: its bytes pass, and its duration is counted, because it states no usage. */
import { NO_FLAGS } from '../../../generation/usage.ts';
import { SoundClock } from '../../../wire/audio/sound-clock.ts';
import type { AnswerFacts, RecordVerdict, StreamObserver } from '../../upstream-protocol.ts';
import { countSound } from '../shared/count-sound.ts';

const COMPLETE = Buffer.alloc(0);

export class SoundObserver implements StreamObserver {
  readonly rewrites = false;
  readonly replacement = null;
  readonly protocolViolations = 0;
  readonly failure = null;
  begun = false;
  readonly #clock: SoundClock;
  #bytes = 0;

  constructor(contentType: string) {
    this.#clock = new SoundClock(contentType);
  }

  facts(): AnswerFacts {
    return {
      usage: null,
      usageFlags: NO_FLAGS,
      usageSoFar: null,
      finish_reason: null,
      model: null,
      outputBytes: this.#bytes,
      reasoningBytes: 0,
      outputBytesMax: this.#bytes,
      counted: countSound(this.#clock.seconds),
    };
  }

  skim(bytes: Uint8Array, start: number): number {
    const span = start === 0 ? bytes : bytes.subarray(start);
    this.begun ||= span.length > 0;
    this.#bytes += span.length;
    this.#clock.push(span);
    return bytes.length;
  }

  preview(bytes: Uint8Array): ReturnType<StreamObserver['preview']> {
    return { end: bytes.length, outputBytes: 0 };
  }

  /** Sound has no records. */
  observe(): RecordVerdict {
    return 'malformed';
  }

  endOfBytes(): Buffer {
    return COMPLETE;
  }
}
