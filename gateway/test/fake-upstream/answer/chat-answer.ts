/** Renders a built-in model's speech as a chat completion, plain or streamed. */
import { type Answer, jsonAnswer, streamAnswer } from './answer.ts';
import { type BodyPart, recordPart } from './body-part.ts';
import { isWordless, type Speech } from './speech.ts';

const CREATED = 1_790_000_000;

function usageOf(speech: Speech): Record<string, unknown> {
  const promptTokens = speech.inputTokens + speech.cacheReadTokens;
  return {
    prompt_tokens: promptTokens,
    completion_tokens: speech.outputTokens,
    total_tokens: promptTokens + speech.outputTokens,
    prompt_tokens_details: { cached_tokens: speech.cacheReadTokens },
    completion_tokens_details: { reasoning_tokens: speech.reasoningTokens },
  };
}

function finishReasonOf(speech: Speech): string {
  return speech.toolCalls.length > 0 ? 'tool_calls' : 'stop';
}

/** Null only with tool calls, as at the provider. */
function plainContent(speech: Speech): string | null {
  return isWordless(speech) && speech.toolCalls.length > 0 ? null : [...speech.text].join('');
}

/** Renders the speech as a `chat.completion`. */
export function plainChatAnswer(model: string, speech: Speech): Answer {
  const message: Record<string, unknown> = { role: 'assistant', content: plainContent(speech), refusal: null };
  if (speech.reasoning.length > 0) message.reasoning_content = speech.reasoning.join('');
  if (speech.toolCalls.length > 0) {
    message.tool_calls = speech.toolCalls.map((call) => ({
      id: call.id,
      type: 'function',
      function: { name: call.name, arguments: call.argumentPieces.join('') },
    }));
  }
  const choice = { index: 0, message, logprobs: null, finish_reason: finishReasonOf(speech) };
  return jsonAnswer(200, {
    id: `chatcmpl-${speech.id}`,
    object: 'chat.completion',
    created: CREATED,
    model,
    choices: [choice],
    usage: usageOf(speech),
  });
}

function* chunks(model: string, speech: Speech, includeUsage: boolean): Generator<BodyPart> {
  const head = { id: `chatcmpl-${speech.id}`, object: 'chat.completion.chunk', created: CREATED, model };
  const usage = includeUsage ? { usage: null } : {};
  const chunk = (delta: object, finish_reason: string | null = null): BodyPart => {
    const choices = [{ index: 0, delta, logprobs: null, finish_reason }];
    return recordPart(`data: ${JSON.stringify({ ...head, choices, ...usage })}\n\n`);
  };
  const content = isWordless(speech) && speech.toolCalls.length > 0 ? null : '';
  yield chunk({ role: 'assistant', content, refusal: null });
  for (const reasoning_content of speech.reasoning) yield chunk({ reasoning_content });
  for (const content of speech.text) yield chunk({ content });
  for (const [index, call] of speech.toolCalls.entries()) {
    const start = { index, id: call.id, type: 'function', function: { name: call.name, arguments: '' } };
    yield chunk({ tool_calls: [start] });
    for (const piece of call.argumentPieces) yield chunk({ tool_calls: [{ index, function: { arguments: piece } }] });
  }
  yield chunk({}, finishReasonOf(speech));
  if (includeUsage) {
    yield recordPart(`data: ${JSON.stringify({ ...head, choices: [], usage: usageOf(speech) })}\n\n`);
  }
  yield recordPart('data: [DONE]\n\n');
}

/** Renders the speech as `chat.completion.chunk` records; the usage chunk only if the caller requested it. */
export function streamedChatAnswer(model: string, speech: Speech, includeUsage: boolean): Answer {
  return streamAnswer({ [Symbol.iterator]: () => chunks(model, speech, includeUsage) });
}
