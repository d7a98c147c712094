/** Owns what all chunks of one rendered stream have in common, written once. Knows no order of chunks. */
import type { Usage } from '../../generation/usage.ts';
import { writeJson } from '../../wire/json-writer.ts';
import { renderUsage } from './render-usage.ts';

/** Wraps deltas into records. Where the client wants usage, every chunk before that one has `usage: null`, as OpenAI's have. */
export class ChunkFrame {
  readonly #head: string;
  readonly #tail: string;
  /** What stands around the delta of a chunk that is not the finish, as text of a record. */
  readonly before: string;
  readonly after: string;

  constructor(id: string, createdSeconds: number, model: string, wantsUsage: boolean) {
    const common = writeJson({ id, object: 'chat.completion.chunk', created: createdSeconds, model });
    this.#head = `data: ${common.slice(0, -1)},"choices":[`;
    this.#tail = wantsUsage ? '],"usage":null}\n\n' : ']}\n\n';
    this.before = `${this.#head}{"index":0,"delta":`;
    this.after = `,"finish_reason":null}${this.#tail}`;
  }

  /** The record of a delta, given as JSON. */
  delta(json: string): string {
    return this.before + json + this.after;
  }

  finish(word: string): string {
    return `${this.#head}{"index":0,"delta":{},"finish_reason":${JSON.stringify(word)}}${this.#tail}`;
  }

  usage(usage: Usage): string {
    return `${this.#head}],"usage":${writeJson(renderUsage(usage))}}\n\n`;
  }
}
