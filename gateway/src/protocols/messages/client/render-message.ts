/** Renders the message object around the blocks, its stop members, and the ids of its calls. Source: B.5 and C.3. */
import type { FinishReason } from '../../../generation/event.ts';
import type { WritableJson } from '../../../wire/json-writer.ts';
import type { AnswerContext } from '../../client-protocol.ts';
import { aliasText } from '../../request/tool-names.ts';
import { renderStopReason } from '../shared/stop-reasons.ts';

const CALL_ID_CHARS_MAX = 128;

/** The members about the end of a response, shared by a whole message and `message_delta`. */
interface StopMembers {
  readonly stop_reason: string | null;
  readonly stop_sequence: string | null;
  readonly stop_details: WritableJson;
  readonly container: null;
}

/** The members of a response that has not ended. */
export const NOT_STOPPED: StopMembers = { stop_reason: null, stop_sequence: null, stop_details: null, container: null };

/** Renders the finish of a response as stop members. */
export function renderStop(
  finish: {
    readonly finish_reason: FinishReason;
    readonly stop_sequence: string | null;
    readonly explanation: string | null;
  },
  callsTool: boolean,
): StopMembers & { readonly stop_reason: string } {
  const stop_reason = renderStopReason(finish.finish_reason, callsTool);
  return {
    stop_reason,
    stop_sequence: stop_reason === 'stop_sequence' ? finish.stop_sequence : null,
    stop_details:
      stop_reason === 'refusal' ? { type: 'refusal', category: null, explanation: finish.explanation } : null,
    container: null,
  };
}

/** The message object, also used in `message_start`. */
export function renderMessage(
  model: string | null,
  content: readonly WritableJson[],
  stop: StopMembers,
  usage: WritableJson,
  context: AnswerContext,
): WritableJson {
  return {
    id: `msg_${context.id}`,
    type: 'message',
    role: 'assistant',
    model: model ?? context.model,
    content,
    ...stop,
    diagnostics: null,
    usage,
  };
}

/**
 * Gives the calls of one response unique ids that the format accepts (`^[a-zA-Z0-9_-]+$`, at most 128 characters): some
 * providers send none, or the same id for all.
 */
export function startCallIds(answerId: string): (id: string) => string {
  const given = new Set<string>();
  return (id) => {
    const named = aliasText(id === '' ? `toolu_${answerId}_${given.size}` : id, CALL_ID_CHARS_MAX);
    const unique = given.has(named) ? aliasText(`${id} ${given.size}`, CALL_ID_CHARS_MAX) : named;
    given.add(unique);
    return unique;
  };
}
