/** Converts a call of the tool that emulates a response format back into response text. Does not check the JSON. */
import type { EventFilter } from '../event.ts';

/** Arguments of a call that has none. */
const NO_ARGUMENTS = '{}';

/**
 * Calls of the tool `name` become text parts with their arguments as text. The finish reason becomes `stop` unless the
 * model called another tool.
 */
export function unwrapOutputTool(name: string): EventFilter {
  /** The open response parts; true once a part has some text. */
  const answers = new Map<number, boolean>();
  let answered = false;
  let calledOther = false;
  return {
    push(event) {
      switch (event.kind) {
        case 'part_start':
          if (event.opening.kind !== 'tool_call') return [event];
          if (event.opening.name !== name) {
            calledOther = true;
            return [event];
          }
          answered = true;
          answers.set(event.part, false);
          return [{ kind: 'part_start', part: event.part, opening: { kind: 'text' } }];
        case 'arguments_delta':
          if (!answers.has(event.part)) return [event];
          answers.set(event.part, true);
          return [{ kind: 'text_delta', part: event.part, text: event.text }];
        case 'part_end': {
          const written = answers.get(event.part);
          answers.delete(event.part);
          return written === false ? [{ kind: 'text_delta', part: event.part, text: NO_ARGUMENTS }, event] : [event];
        }
        case 'finish':
          if (event.finish_reason !== 'tool_calls' || !answered || calledOther) return [event];
          return [{ ...event, finish_reason: 'stop' }];
        default:
          return [event];
      }
    },
  };
}
