/** Owns the error body of a messages provider. Which bodies are refused is not decided here. */
import type { BodyProblem } from '../body-problem.ts';

/** `{type: "error", error: {type, message, details?}, request_id}`; the message opens with the member's path, as `messages.0.role`. */
export function renderMessagesError(problem: BodyProblem, requestId: string): object {
  const where = problem.path.length === 0 ? 'body' : problem.path.join('.');
  return {
    type: 'error',
    error: {
      type: 'invalid_request_error',
      message: `${where}: ${problem.message}.`,
      ...(problem.details === null ? {} : { details: problem.details }),
    },
    request_id: requestId,
  };
}
