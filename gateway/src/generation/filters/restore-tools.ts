/**
 * Restores the client's view of tools in a response: its names of tools and arguments, free text for its tools that take
 * no JSON, and a response that was requested as the arguments of a tool.
 */
import type { EventFilter, GenerationEvent, PartOpening } from '../event.ts';

const NO_ALIASES: ReadonlyMap<string, (json: string) => string> = new Map();

type CallOpening = Extract<PartOpening, { kind: 'tool_call' }>;

/**
 * `restored` maps upstream's names to the client's; other names stay. `custom` holds the client's names of tools that
 * were sent as functions with one argument, `input`: such a call opens at once and gets its text when it ends. If the
 * model wrote anything other than that argument, the call gets that text unchanged. `ownArguments`, by the client's names
 * of tools, gives the arguments of a call their own names; such a call, too, gets them when it ends.
 */
export function restoreTools(
  restored: ReadonlyMap<string, string>,
  custom: ReadonlySet<string>,
  ownArguments: ReadonlyMap<string, (json: string) => string> = NO_ALIASES,
): EventFilter {
  /** The text so far of the open calls that get theirs at the end, by part, and what becomes of it. */
  const written = new Map<number, { text: string; readonly restore: (json: string) => string }>();

  function open(event: GenerationEvent, part: number, opening: CallOpening): readonly GenerationEvent[] {
    const name = restored.get(opening.name) ?? opening.name;
    const rename = ownArguments.get(name);
    if (!custom.has(name)) {
      if (rename !== undefined) written.set(part, { text: '', restore: rename });
      return [name === opening.name ? event : { kind: 'part_start', part, opening: { ...opening, name } }];
    }
    written.set(part, { text: '', restore: (json) => inputOf(json) ?? json });
    return [{ kind: 'part_start', part, opening: { ...opening, name, tool: 'custom' } }];
  }

  return {
    push(event) {
      switch (event.kind) {
        case 'part_start':
          return event.opening.kind === 'tool_call' ? open(event, event.part, event.opening) : [event];
        case 'arguments_delta': {
          const call = written.get(event.part);
          if (call === undefined) return [event];
          call.text += event.text;
          return [];
        }
        case 'part_end': {
          const call = written.get(event.part);
          if (call === undefined) return [event];
          written.delete(event.part);
          const text = call.restore(call.text);
          return text === '' ? [event] : [{ kind: 'arguments_delta', part: event.part, text }, event];
        }
        default:
          return [event];
      }
    },
  };
}

/** The text in `{"input": "…"}`; null for anything else. */
function inputOf(json: string): string | null {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return null;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const [only, ...others] = Object.entries(value);
  return only?.[0] === 'input' && typeof only[1] === 'string' && others.length === 0 ? only[1] : null;
}

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
