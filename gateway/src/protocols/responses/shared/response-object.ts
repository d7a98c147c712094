/** Builds response objects of our own, with every member that tested clients need. Source: specification, C.1. */
import type { JsonObject } from '../../json.ts';

/** In the ids of items that this gateway made, so that they are never taken for those that a provider stores. */
export const OWN_ID = '_gw_';

export interface ResponseHead {
  /** `resp_…`. */
  readonly id: string;
  readonly createdSeconds: number;
  readonly model: string | null;
}

/** `members` replace the defaults. Unless they say otherwise, nothing of it is stored. The request is not repeated. */
export function responseObject(
  { id, createdSeconds, model }: ResponseHead,
  status: string,
  members: JsonObject,
): JsonObject {
  return {
    id,
    object: 'response',
    created_at: createdSeconds,
    status,
    background: false,
    error: null,
    incomplete_details: null,
    instructions: null,
    max_output_tokens: null,
    model: model ?? '',
    output: [],
    parallel_tool_calls: true,
    previous_response_id: null,
    store: false,
    temperature: null,
    text: { format: { type: 'text' } },
    tool_choice: 'auto',
    tools: [],
    top_p: null,
    truncation: 'disabled',
    usage: null,
    user: null,
    metadata: {},
    ...members,
  };
}
