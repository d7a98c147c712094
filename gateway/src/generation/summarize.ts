/**
 * Turns a request into one for a summary of its conversation, and the model's answer into a part that stands for that
 * conversation. Other formats than Responses have no compaction of their own.
 */
import type { EventFilter, GenerationEvent } from './event.ts';
import { summaryPart, textPart } from './part.ts';
import type { GenerationRequest } from './request.ts';

/** It replaces all that came before, so it must hold what another model needs to go on. */
const INSTRUCTION = `Summarize the conversation above for another model that continues it from your summary alone. Include:
- the goals and requests of the user, with their constraints and preferences;
- decisions, and the facts that they rest on;
- names, files, commands, identifiers and results that are still needed, exactly as they are;
- the state of the work, what failed, and the next steps.
Write only the summary. Call no tools.`;

/** `path`: the member that asks for the summary, for error messages. Tools stay declared, because the history uses them. */
export function summaryRequest(request: GenerationRequest, path: string): GenerationRequest {
  const { output_format: _, ...named } = request.named;
  return {
    ...request,
    turns: [...request.turns, { role: 'user', name: null, parts: [textPart(INSTRUCTION)], path }],
    tool_choice: request.tools.length === 0 ? null : { kind: 'none' },
    output_format: null,
    web_search: null,
    named,
    summarizes: true,
  };
}

/** Replaces the parts of the answer by one with the text. A cut or refused answer has no summary; an empty one is malformed. */
export function collectSummary(): EventFilter {
  const texts = new Map<number, string>();
  return {
    push(event) {
      switch (event.kind) {
        case 'part_start':
          if (event.opening.kind === 'text') texts.set(event.part, '');
          return NONE;
        case 'text_delta': {
          const before = texts.get(event.part);
          if (before !== undefined) texts.set(event.part, before + event.text);
          return NONE;
        }
        case 'finish':
          return isWhole(event) ? endOf(event, [...texts.values()].join('\n\n').trim()) : [event];
        case 'start':
        case 'usage':
        case 'end':
        case 'error':
        case 'malformed':
          return [event];
        default:
          return NONE;
      }
    },
  };
}

const NONE: readonly GenerationEvent[] = [];

function isWhole({ finish_reason }: Extract<GenerationEvent, { kind: 'finish' }>): boolean {
  return finish_reason === 'stop' || finish_reason === 'tool_calls' || finish_reason === 'other';
}

function endOf(finish: GenerationEvent, text: string): readonly GenerationEvent[] {
  if (text === '') return [{ kind: 'malformed', message: 'upstream wrote no summary of the conversation' }];
  return [
    { kind: 'part_start', part: 0, opening: { kind: 'opaque', part: summaryPart(text) } },
    { kind: 'part_end', part: 0 },
    finish,
  ];
}
