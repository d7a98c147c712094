/** Builds canonical requests and turns for tests. */
import { type Part, textPart } from '../part.ts';
import type { GenerationRequest, Turn } from '../request.ts';

/** A canonical request that says hello, with these members changed. */
export function requestOf(changes: Partial<GenerationRequest>): GenerationRequest {
  return {
    model: 'm',
    stream: false,
    turns: [userTurn(textPart('hello'))],
    tools: [],
    tool_choice: null,
    parallel_tool_calls: null,
    outputTokensMax: null,
    stop: [],
    temperature: null,
    top_p: null,
    top_k: null,
    frequency_penalty: null,
    presence_penalty: null,
    seed: null,
    reasoning: null,
    output_format: null,
    verbosity: null,
    end_user: null,
    service_tier: null,
    cache_mark: null,
    web_search: null,
    logprobs: null,
    named: {},
    ...changes,
  };
}

export function turn(role: Turn['role'], parts: readonly Part[], index = 0): Turn {
  return { role, name: null, parts, path: `messages.${index}` };
}

export function userTurn(...parts: readonly Part[]): Turn {
  return turn('user', parts);
}

export function assistantTurn(...parts: readonly Part[]): Turn {
  return turn('assistant', parts);
}
