/** Owns the error body of a chat completions provider. Which bodies are refused is not decided here. */
import type { BodyProblem, Path } from '../body-problem.ts';

/** `{error: {message, type, param, code}}`; the message names the member as `param` does. */
export function renderChatError(problem: BodyProblem): object {
  const param = problem.path.length === 0 ? null : renderPath(problem.path);
  const message = `Invalid ${param === null ? 'body' : `'${param}'`}: ${problem.message}.`;
  return { error: { message, type: 'invalid_request_error', param, code: 'invalid_value' } };
}

function renderPath(path: Path): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`;
    return text === '' ? step : `${text}.${step}`;
  }, '');
}
