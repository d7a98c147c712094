/** Owns cutting the text of an event stream into events, in whatever pieces it comes. What the data means is not known here. */

export interface SseEvent {
  /** `message` where the stream names none. */
  readonly event: string;
  readonly data: string;
}

export interface SseReader {
  /** The events that a piece of text completes. */
  push(text: string): readonly SseEvent[];
}

/** Lines may end in LF, CR or CRLF. What no blank line ended is no event, as the standard has it. */
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

/** A CR at the very end may be the half of a CRLF: it waits for what follows. */
function lineEnd(text: string): { at: number; length: number } | null {
  const match = /\r\n|\n|\r(?!$)/.exec(text);
  return match === null ? null : { at: match.index, length: match[0].length };
}

function textAfter(line: string, from: number): string {
  return line[from] === ' ' ? line.slice(from + 1) : line.slice(from);
}
