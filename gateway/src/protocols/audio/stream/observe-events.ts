/** Observes the events of speech and transcriptions that are streamed: their text, usage, errors and end. Changes none. */
import { dataText, type StreamRecord } from '../../../framing/framing.ts';
import { NO_FLAGS, type Usage } from '../../../generation/usage.ts';
import { SoundClock } from '../../../wire/audio/sound-clock.ts';
import { findEventError } from '../../answer/answer-error.ts';
import { asText, type JsonObject, parseObject } from '../../json.ts';
import type { AnswerFacts, RecordVerdict, StreamObserver } from '../../upstream-protocol.ts';
import { readAudioUsage, wholeSeconds } from '../shared/audio-usage.ts';
import { countSound } from '../shared/count-sound.ts';
import { leastSecondsOf } from '../shared/least-seconds.ts';

const DONE = '[DONE]';
const COMPLETE = Buffer.alloc(0);

export class AudioEventObserver implements StreamObserver {
  readonly rewrites = false;
  readonly replacement = null;
  readonly protocolViolations = 0;
  begun = false;
  failure: StreamObserver['failure'] = null;
  #usage: Usage | null = null;
  #isComplete = false;
  #outputBytes = 0;
  #leastSeconds = 0;
  #seconds = 0;
  /** Null: the events have no sound. */
  readonly #clock: SoundClock | null;

  /** `sound`: the content type of the sound in the events; undefined: they have none. */
  constructor(sound?: string) {
    this.#clock = sound === undefined ? null : new SoundClock(sound);
  }

  facts(): AnswerFacts {
    return {
      usage: this.#usage,
      usageFlags: NO_FLAGS,
      usageSoFar: this.#usage,
      finish_reason: null,
      model: null,
      outputBytes: this.#outputBytes,
      reasoningBytes: 0,
      outputBytesMax: this.#outputBytes,
      leastSeconds: this.#leastSeconds,
      ...(this.#seconds === 0 ? {} : { counted: { extras: { seconds: this.#seconds } } }),
      ...(this.#clock === null ? {} : { counted: countSound(this.#clock.seconds) }),
    };
  }

  skim(_bytes: Uint8Array, start: number): number {
    return start;
  }

  preview(_bytes: Uint8Array, start: number): ReturnType<StreamObserver['preview']> {
    return { end: start, outputBytes: 0 };
  }

  /** The last event is followed by `[DONE]`, or by nothing. */
  endOfBytes(): Buffer | null {
    return this.#isComplete ? COMPLETE : null;
  }

  observe(record: StreamRecord): RecordVerdict {
    const text = dataText(record);
    if (text.trim() === DONE) return 'terminal';
    const event = parseObject(text);
    return event === null ? 'malformed' : this.#observeEvent(event);
  }

  #observeEvent(event: JsonObject): RecordVerdict {
    this.failure = findEventError(event);
    if (this.failure !== null) return 'error';
    const { type } = event;
    if (type === 'transcript.text.delta' && typeof event.delta === 'string') {
      this.#outputBytes += Buffer.byteLength(event.delta);
      this.begun ||= event.delta !== '';
    } else if (type === 'speech.audio.delta') {
      this.begun = true;
      this.#clock?.push(Buffer.from(asText(event.audio) ?? '', 'base64'));
    } else if (type === 'transcript.text.done' || type === 'speech.audio.done') {
      this.begun = true;
      this.#isComplete = true;
      this.#usage = readAudioUsage(event.usage, type === 'speech.audio.done');
      this.#seconds = wholeSeconds(event.duration);
      if (typeof event.text === 'string') {
        this.#outputBytes = Math.max(this.#outputBytes, Buffer.byteLength(event.text));
        this.#leastSeconds = leastSecondsOf(event.text);
      }
    } else if (type === 'transcript.text.segment') this.begun = true;
    return 'pass';
  }
}
