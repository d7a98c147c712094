/** Splits an event stream, received in arbitrary pieces, into events. Does not interpret the data. */

export interface SseEvent {
  /** `message` when the stream sets none. */
  readonly event: string;
  readonly data: string;
}

export interface SseReader {
  /** Returns the events that this piece completes. */
  push(text: string): readonly SseEvent[];
}

/** Lines may end in LF, CR or CRLF. As in the standard, an event without a final blank line is discarded. */
export function startSseReader(): SseReader {
  let rest = '';
  let name = '';
  let lines: string[] = [];
  return {
    push(text) {
      rest += text;
      const events: SseEvent[] = [];
      for (;;) {
        const end = lineEnd(rest);
        if (end === null) return events;
        const line = rest.slice(0, end.at);
        rest = rest.slice(end.at + end.length);
        if (line === '') {
          if (lines.length > 0) events.push({ event: name === '' ? 'message' : name, data: lines.join('\n') });
          name = '';
          lines = [];
        } else if (line.startsWith('data:')) lines.push(textAfter(line, 5));
        else if (line.startsWith('event:')) name = textAfter(line, 6);
      }
    },
  };
}

/** A CR at the very end may be half of a CRLF, so it waits for the next piece. */
function lineEnd(text: string): { at: number; length: number } | null {
  const match = /\r\n|\n|\r(?!$)/.exec(text);
  return match === null ? null : { at: match.index, length: match[0].length };
}

function textAfter(line: string, from: number): string {
  return line[from] === ' ' ? line.slice(from + 1) : line.slice(from);
}
