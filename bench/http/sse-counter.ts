/** Counts server-sent events in a body that arrives in arbitrary pieces. Does not parse their content. */
import type { Protocol } from '../protocol.ts';

export interface SseCounter {
  push(bytes: Buffer): void;
  /** Records with a `data:` line so far, excluding chat's end mark `[DONE]`; comments do not count. */
  readonly events: number;
  /** True when the last record was the format's end mark, and the body ended with it. */
  readonly finished: boolean;
  /** The data of the last event of `CLOSING_EVENT`; null: none, or a chat stream. */
  readonly closingData: string | null;
}

/** The event with the reason of the end and the usage. */
export const CLOSING_EVENT = { messages: 'message_delta', responses: 'response.completed' } as const;

const END_EVENT = { chat: null, messages: 'message_stop', responses: 'response.completed' } as const;

const LF = 10;
const LETTER_D = 100;
const LETTER_E = 101;
const LETTER_M = 109;
const DONE = Buffer.from('data: [DONE]');
const DATA_CHARS = 'data: '.length;
const EVENT_CHARS = 'event: '.length;

/** A counter for one body. `onEvent` is called for each counted record. */
export function createSseCounter(protocol: Protocol, onEvent: () => void): SseCounter {
  let events = 0;
  let finished = false;
  let recordHasData = false;
  let recordIsDone = false;
  /** Only set for records that may frame an answer: text events do not need it, and there are many of them. */
  let recordName = '';
  let closingData: string | null = null;
  let heldLine = Buffer.alloc(0);

  function endRecord(): void {
    if (recordIsDone) finished = true;
    else if (recordHasData) {
      finished = recordName === END_EVENT[protocol];
      events += 1;
      onEvent();
    }
    recordHasData = false;
    recordIsDone = false;
    recordName = '';
  }

  function takeLine(bytes: Buffer, from: number, to: number): void {
    if (to === from) endRecord();
    else if (bytes[from] === LETTER_D) {
      recordHasData = true;
      if (protocol === 'chat') {
        recordIsDone = to - from === DONE.length && bytes.compare(DONE, 0, DONE.length, from, to) === 0;
      } else if (recordName === CLOSING_EVENT[protocol]) closingData = bytes.toString('utf8', from + DATA_CHARS, to);
    } else if (protocol !== 'chat' && bytes[from] === LETTER_E && mayFrame(bytes, from + EVENT_CHARS, to)) {
      recordName = bytes.toString('latin1', from + EVENT_CHARS, to);
    }
  }

  function mayFrame(bytes: Buffer, from: number, to: number): boolean {
    return protocol === 'messages' ? bytes[from] === LETTER_M : to - from === END_EVENT.responses.length;
  }

  function push(bytes: Buffer): void {
    let at = 0;
    if (heldLine.length > 0) {
      const end = bytes.indexOf(LF);
      heldLine = Buffer.concat([heldLine, end < 0 ? bytes : bytes.subarray(0, end)]);
      if (end < 0) return;
      takeLine(heldLine, 0, heldLine.length);
      heldLine = Buffer.alloc(0);
      at = end + 1;
    }
    for (let end = bytes.indexOf(LF, at); end >= 0; end = bytes.indexOf(LF, at)) {
      takeLine(bytes, at, end);
      at = end + 1;
    }
    if (at < bytes.length) heldLine = Buffer.from(bytes.subarray(at));
  }

  return {
    push,
    get events() {
      return events;
    },
    get finished() {
      return finished && heldLine.length === 0 && !recordHasData;
    },
    get closingData() {
      return closingData;
    },
  };
}
