/**
 * Counts the seconds of a sound file while its bytes pass: of PCM and WAV by their bytes, of MP3 by its frames. Keeps a few
 * bytes only.
 */
import { type Mp3Frame, parseMp3Frame } from './audio-streams.ts';

/** PCM as OpenAI sends it: 24 kHz, 16 bit, mono (API reference of audio/speech, 2026-11). */
const PCM_BYTES_PER_SECOND = 48_000;
/** Used where the format is unknown: 128 kbit/s. */
const BYTES_PER_SECOND = 16_000;
const HEAD_BYTES = 4;
/** The first byte of each frame. */
const FRAME_START = 0xff;
const WAV_HEAD_BYTES = 44;

export class SoundClock {
  readonly #format: 'mp3' | 'wav' | 'pcm' | 'other';
  #bytes = 0;
  #bytesPerSecond: number;
  #frameSeconds = 0;
  /** Bytes before the next frame begins. */
  #skip = 0;
  #pending: Buffer = Buffer.alloc(0);
  /** Frames by the bytes that tell their size and duration: a file has many of a few kinds. */
  readonly #kinds = new Map<number, Mp3Frame>();

  /** `contentType`: of the answer; it tells the format. */
  constructor(contentType: string) {
    const type = contentType.toLowerCase();
    this.#format = /mpeg|mp3/.test(type) ? 'mp3' : /wav/.test(type) ? 'wav' : /pcm|l16/.test(type) ? 'pcm' : 'other';
    this.#bytesPerSecond = this.#format === 'pcm' || this.#format === 'wav' ? PCM_BYTES_PER_SECOND : BYTES_PER_SECOND;
  }

  push(bytes: Uint8Array): void {
    if (this.#format === 'wav' && this.#bytes < WAV_HEAD_BYTES) this.#readWavHead(bytes);
    this.#bytes += bytes.length;
    if (this.#format === 'mp3') this.#readFrames(bytes);
  }

  /** Of the bytes so far. */
  get seconds(): number {
    if (this.#format === 'mp3' && this.#frameSeconds > 0) return this.#frameSeconds;
    const head = this.#format === 'wav' ? WAV_HEAD_BYTES : 0;
    return Math.max(0, this.#bytes - head) / this.#bytesPerSecond;
  }

  #readWavHead(bytes: Uint8Array): void {
    this.#pending = Buffer.concat([this.#pending, bytes.subarray(0, WAV_HEAD_BYTES)]).subarray(0, WAV_HEAD_BYTES);
    if (this.#pending.length < WAV_HEAD_BYTES || this.#pending.toString('latin1', 12, 16) !== 'fmt ') return;
    const bytesPerSecond = this.#pending.readUInt32LE(24) * this.#pending.readUInt16LE(32);
    if (bytesPerSecond > 0) this.#bytesPerSecond = bytesPerSecond;
  }

  /** Joins only the head of a frame that begins in the bytes before: a copy of each read would wait for the collector. */
  #readFrames(bytes: Uint8Array): void {
    const before = this.#pending;
    let at = Math.min(this.#skip, bytes.length);
    this.#skip -= at;
    if (before.length > 0) {
      const joined = Buffer.concat([before, bytes.subarray(0, HEAD_BYTES)]);
      at = this.#scan(joined, 0, before.length) - before.length;
      if (at < 0) {
        this.#pending = joined.subarray(at + before.length);
        return;
      }
    }
    at = this.#scan(bytes, at, bytes.length);
    this.#skip = Math.max(0, at - bytes.length);
    this.#pending = Buffer.from(bytes.subarray(at));
  }

  /** Adds up the frames that begin in `bytes[at, end)` and whose heads are complete. Returns where it stopped. */
  #scan(bytes: Uint8Array, at: number, end: number): number {
    while (at < end && at + HEAD_BYTES <= bytes.length) {
      const frame = bytes[at] === FRAME_START ? this.#frameAt(bytes, at) : null;
      if (frame === null) {
        const next = bytes.indexOf(FRAME_START, at + 1);
        at = next === -1 ? end : Math.min(next, end);
      } else {
        this.#frameSeconds += frame.samples / frame.sampleRate;
        at += frame.bytes;
      }
    }
    return at;
  }

  #frameAt(bytes: Uint8Array, at: number): Mp3Frame | null {
    const kind = ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
    const known = this.#kinds.get(kind);
    if (known !== undefined) return known;
    const frame = parseMp3Frame(bytes, at);
    if (frame !== null) this.#kinds.set(kind, frame);
    return frame;
  }
}
