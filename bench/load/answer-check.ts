/** Checks one answer: status, completeness, and expected content. Reads no sockets and no framing. */
import { createSseCounter } from '../http/sse-counter.ts';
import { bodyProblem, closingProblem } from './answer-problem.ts';
import type { ExpectedAnswer } from './load-plan.ts';

export interface AnswerCheck {
  onBody(bytes: Buffer): void;
  /** Null for a correct answer, else what was found and what was expected. Call once, at the end of the body. */
  problem(status: number): string | null;
}

const SHOWN_CHARS = 300;
const END_MARK = { chat: 'data: [DONE]', messages: 'event: message_stop', responses: 'event: response.completed' };

/**
 * A check for one answer. `onFirst` is called for its first body bytes, or on a stream for its first event; `onEvent`
 * for each event.
 */
export function createAnswerCheck(expect: ExpectedAnswer, onFirst: () => void, onEvent: () => void): AnswerCheck {
  const { protocol, kind } = expect;
  const pieces: Buffer[] = [];
  const counter = createSseCounter(protocol, () => {
    if (counter.events === 1) onFirst();
    onEvent();
  });
  let textBytes = 0;

  function text(): string {
    return Buffer.concat(pieces).toString();
  }

  return {
    onBody(bytes) {
      if (kind === 'stream') counter.push(bytes);
      else if (textBytes === 0) onFirst();
      if (kind === 'json' || textBytes < SHOWN_CHARS) pieces.push(Buffer.from(bytes));
      textBytes += bytes.length;
    },
    problem(status) {
      if (status !== 200) return `status: found ${status}, expected 200; ${text().slice(0, SHOWN_CHARS)}`;
      if (expect.kind === 'json') return bodyProblem(protocol, text());
      if (counter.events !== expect.events) return `events: found ${counter.events}, expected ${expect.events}`;
      if (!counter.finished) return `the stream ended without ${END_MARK[protocol]}`;
      return protocol === 'chat' ? null : closingProblem(protocol, counter.closingData);
    },
  };
}
