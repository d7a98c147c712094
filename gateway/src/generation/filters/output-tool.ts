/** Owns turning the call of a tool that stands for the answer's format back into the answer. Whether its JSON holds is not looked at. */
import type { EventFilter } from '../event.ts';

/** What a call without any argument means. */
const NO_ARGUMENTS = '{}';

/**
 * Calls of the tool `name` become text parts with their arguments as text, and the model has stopped by itself where it
 * called no other tool.
 */
export function unwrapOutputTool(name: string): EventFilter {
  /** The open answers; true where one has some text already. */
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
