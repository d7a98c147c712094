/** Owns the judgement of one answer: right status, complete, and what was asked for. Reads no sockets and no framing. */
import { createSseCounter } from '../http/sse-counter.ts';
import { USAGE } from '../upstream/replies.ts';
import type { ExpectedAnswer } from './load-plan.ts';

export interface AnswerCheck {
  onBody(bytes: Buffer): void;
  /** Null for a right answer, else what was found and what was expected. To be asked once, at the body's end. */
  problem(status: number): string | null;
}

const SHOWN_CHARS = 300;

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** Null where the text is a chat completion that came to its end and says what it used. */
function jsonProblem(text: string): string | null {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    return `found a body that is not JSON: ${text.slice(0, SHOWN_CHARS)}`;
  }
  const choices = isObject(answer) && Array.isArray(answer.choices) ? answer.choices : [];
  const [choice]: unknown[] = choices;
  const usage = isObject(answer) ? answer.usage : null;
  if (!isObject(choice) || choice.finish_reason !== 'stop') return 'choices[0].finish_reason: expected "stop"';
  const found = isObject(usage) ? usage.total_tokens : undefined;
  if (found !== USAGE.total_tokens) return `usage.total_tokens: found ${found}, upstream sent ${USAGE.total_tokens}`;
  return null;
}

/** A check for one answer. `onFirst` hears of its first body bytes, or of its first event on a stream; `onEvent` of each. */
export function createAnswerCheck(expect: ExpectedAnswer, onFirst: () => void, onEvent: () => void): AnswerCheck {
  const pieces: Buffer[] = [];
  const counter = createSseCounter(() => {
    if (counter.events === 1) onFirst();
    onEvent();
  });
  let textBytes = 0;

  function text(): string {
    return Buffer.concat(pieces).toString();
  }

  return {
    onBody(bytes) {
      if (expect.kind === 'stream') counter.push(bytes);
      else if (textBytes === 0) onFirst();
      if (expect.kind === 'json' || textBytes < SHOWN_CHARS) pieces.push(Buffer.from(bytes));
      textBytes += bytes.length;
    },
    problem(status) {
      if (status !== 200) return `status: found ${status}, expected 200; ${text().slice(0, SHOWN_CHARS)}`;
      if (expect.kind === 'json') return jsonProblem(text());
      if (counter.events !== expect.events) return `events: found ${counter.events}, expected ${expect.events}`;
      return counter.finished ? null : 'the stream ended without data: [DONE]';
    },
  };
}
