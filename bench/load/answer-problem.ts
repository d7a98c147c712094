/** Checks that an answer is complete and reports its usage. */
import { CLOSING_EVENT } from '../http/sse-counter.ts';
import type { Protocol } from '../protocol.ts';
import { USED } from '../upstream/answer-content.ts';

const SHOWN_CHARS = 300;

type JsonObject = Record<string, unknown>;

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null;
}

/** The value's member; undefined when the value is not an object or lacks it. */
function member(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined;
}

function parseJson(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

function notJson(text: string): string {
  return `found a body that is not JSON: ${text.slice(0, SHOWN_CHARS)}`;
}

/** Null when the found value equals the expected one. */
function compare(path: string, found: unknown, expected: unknown): string | null {
  if (found === expected) return null;
  return `${path}: found ${JSON.stringify(found)}, expected ${JSON.stringify(expected)}`;
}

function usageProblem(usage: unknown, expected: Readonly<Record<string, number>>): string | null {
  for (const [name, tokens] of Object.entries(expected)) {
    const problem = compare(`usage.${name}`, member(usage, name), tokens);
    if (problem !== null) return problem;
  }
  return null;
}

const CHAT_USAGE = { total_tokens: USED.input + USED.output };
/** Of messages and Responses. */
const NAMED_USAGE = { input_tokens: USED.input, output_tokens: USED.output };

/** Null when the text is a complete answer that reports the upstream's usage. */
export function bodyProblem(protocol: Protocol, text: string): string | null {
  const answer = parseJson(text);
  if (answer === null) return notJson(text);
  if (protocol === 'messages') {
    return compare('stop_reason', answer.stop_reason, 'end_turn') ?? usageProblem(answer.usage, NAMED_USAGE);
  }
  if (protocol === 'responses') return responseProblem(answer);
  const [choice]: unknown[] = Array.isArray(answer.choices) ? answer.choices : [];
  return (
    compare('choices[0].finish_reason', member(choice, 'finish_reason'), 'stop') ??
    usageProblem(answer.usage, CHAT_USAGE)
  );
}

function responseProblem(response: unknown): string | null {
  return (
    compare('status', member(response, 'status'), 'completed') ?? usageProblem(member(response, 'usage'), NAMED_USAGE)
  );
}

/** The same for the data of the event that ends a stream of messages or Responses; null when there was none. */
export function closingProblem(protocol: Exclude<Protocol, 'chat'>, text: string | null): string | null {
  if (text === null) return `${CLOSING_EVENT[protocol]}: found none, expected one`;
  const closing = parseJson(text);
  if (closing === null) return notJson(text);
  if (protocol === 'responses') return responseProblem(closing.response);
  return (
    compare('delta.stop_reason', member(closing.delta, 'stop_reason'), 'end_turn') ??
    usageProblem(closing.usage, NAMED_USAGE)
  );
}
