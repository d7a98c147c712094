/** Parses a chat-completions stream: classifies records and detects completion. answer-reader.ts reads the chunks. */

import { dataText, type StreamRecord } from '../../../framing/framing.ts';
import type { GenerationEvent } from '../../../generation/event.ts';
import { parseObject } from '../../json.ts';
import type { StreamParser } from '../../upstream-protocol.ts';
import { findError } from '../shared/find-error.ts';
import { AnswerReader } from './answer-reader.ts';

const DONE = '[DONE]';
const NONE: readonly GenerationEvent[] = [];

/**
 * Parses the stream of one call; only the first choice counts. It is complete at `[DONE]`, or at a clean end of the
 * bytes after a `finish_reason`; wire reference A.7 and C.4.
 */
export function startStreamParser(): StreamParser {
  return new ChatStreamParser();
}

class ChatStreamParser implements StreamParser {
  readonly #reader = new AnswerReader();

  get isUsageFinal(): boolean {
    return this.#reader.isUsageFinal;
  }

  push(record: StreamRecord): readonly GenerationEvent[] {
    const { queue } = this.#reader;
    if (queue.closed || record.kind !== 'event') return NONE;
    this.#read(dataText(record), record.event);
    return queue.take();
  }

  finish(): readonly GenerationEvent[] {
    const { queue } = this.#reader;
    if (queue.closed || !this.#reader.finished) return NONE;
    this.#reader.close();
    return queue.take();
  }

  #read(text: string, recordName: string): void {
    if (text === DONE || (text.length < 2 * DONE.length && text.trim() === DONE)) {
      this.#reader.close();
      return;
    }
    const chunk = parseObject(text);
    if (chunk === null) {
      this.#reader.queue.refuse('upstream sent a record that is not a JSON object');
      return;
    }
    const error = findError(chunk, recordName);
    if (error === null) this.#reader.readChunk(chunk, 'delta', text);
    else this.#reader.fail(chunk, error);
  }
}
