/**
 * Reads from a request what the demo model answers: the last message, its media, tool results, and whether it thinks.
 */
import type { DocumentPart, MediaPart, Part } from '../generation/part.ts';
import type { GenerationRequest } from '../generation/request.ts';

export interface ToolResult {
  readonly name: string;
  readonly text: string;
  readonly isError: boolean;
}

export interface Prompt {
  readonly request: GenerationRequest;
  /** The last text of the user; empty: the last message has none. */
  readonly text: string;
  readonly userTurns: number;
  /** Everything that the user sent since the last answer. */
  readonly media: ReadonlyArray<MediaPart | DocumentPart>;
  /** The results that the conversation ends with. */
  readonly results: readonly ToolResult[];
  readonly thinking: 'none' | 'shown' | 'hidden';
}

export function readPrompt(request: GenerationRequest): Prompt {
  let text = '';
  let userTurns = 0;
  let media: Array<MediaPart | DocumentPart> = [];
  let results: ToolResult[] = [];
  const toolNames = new Map<string, string>();
  for (const { role, parts } of request.turns) {
    if (role === 'assistant') {
      for (const part of parts) if (part.kind === 'tool_call') toolNames.set(part.id, part.name);
      media = [];
      results = [];
    } else if (role === 'user') {
      if (!parts.some(({ kind }) => kind === 'tool_result')) {
        text = '';
        results = [];
        userTurns += 1;
      }
      for (const part of parts) {
        // Coding agents add their own reminders to the user's text.
        if (part.kind === 'text' && (text === '' || !part.text.startsWith('<system-reminder>'))) text = part.text;
        else if (part.kind === 'tool_result') {
          const texts = part.parts.flatMap((inner) => (inner.kind === 'text' ? [inner.text] : []));
          const name = toolNames.get(part.call_id) ?? part.call_id;
          results.push({ name, text: texts.join('\n'), isError: part.is_error });
        }
        media.push(...mediaOf(part));
      }
    }
  }
  return { request, text, userTurns, media, results, thinking: readThinking(request, results.length > 0) };
}

function mediaOf(part: Part): ReadonlyArray<MediaPart | DocumentPart> {
  if (part.kind === 'tool_result') return part.parts.flatMap(mediaOf);
  return part.kind === 'image' || part.kind === 'audio' || part.kind === 'document' ? [part] : [];
}

function readThinking({ reasoning, named }: GenerationRequest, hasResults: boolean): Prompt['thinking'] {
  if (reasoning === null || reasoning.mode === 'off' || (reasoning.mode === 'between_tools' && !hasResults))
    return 'none';
  // On messages, an effort alone does not turn on thinking.
  if (reasoning.mode === null && named.reasoning === 'output_config.effort') return 'none';
  return reasoning.display === 'omitted' ? 'hidden' : 'shown';
}
