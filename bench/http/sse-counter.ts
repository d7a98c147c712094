/** Owns the counting of server-sent events in a body that arrives in arbitrary pieces. Does not parse their content. */

export interface SseCounter {
  push(bytes: Buffer): void;
  /** Records with a `data:` line so far, the end mark `[DONE]` not counted; comments are no records. */
  readonly events: number;
  /** True once the last record was `data: [DONE]` and the body ended with it. */
  readonly finished: boolean;
}

const LF = 10;
const LETTER_D = 100;
const DONE = Buffer.from('data: [DONE]');

/** A counter for one body. `onEvent` hears of each counted record. */
export function createSseCounter(onEvent: () => void): SseCounter {
  let events = 0;
  let finished = false;
  let recordHasData = false;
  let recordIsDone = false;
  let heldLine = Buffer.alloc(0);

  function endRecord(): void {
    if (recordIsDone) finished = true;
    else if (recordHasData) {
      finished = false;
      events += 1;
      onEvent();
    }
    recordHasData = false;
    recordIsDone = false;
  }

  function takeLine(bytes: Buffer, from: number, to: number): void {
    if (to === from) endRecord();
    else if (bytes[from] === LETTER_D) {
      recordHasData = true;
      recordIsDone = to - from === DONE.length && bytes.compare(DONE, 0, DONE.length, from, to) === 0;
    }
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
  };
}
