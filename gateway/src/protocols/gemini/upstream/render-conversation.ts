/**
 * Renders turns as contents of the two roles that Gemini has, and places instructions, results and the stand-in for lost
 * signatures.
 */
import type { GenerationRequest } from '../../../generation/request.ts';
import { RawJson } from '../../../wire/json-writer.ts';
import { LOST_SIGNATURE } from '../../host-data.ts';
import { joinTurns } from '../../request/join-turns.ts';
import { type PartContext, plainText, renderPart, type WrittenPart } from './render-part.ts';

export interface Conversation {
  readonly system: readonly WrittenPart[];
  readonly contents: ReadonlyArray<{ readonly role: 'user' | 'model'; readonly parts: readonly WrittenPart[] }>;
}

/**
 * Throws CallFailure `invalid_request` for calls without results, results without calls, and parts that cannot be
 * rendered. `instruction`: what the gateway adds to the system's.
 */
export function renderConversation(
  request: GenerationRequest,
  instruction: string | null,
  context: PartContext,
): Conversation {
  const { system, messages } = joinTurns<WrittenPart>(request, {
    notes: context.notes,
    format: 'Gemini',
    takesSystemTurns: false,
    keepsAttribution: false,
    renderPart: (part, path) => renderPart(part, path, context),
    renderText: (text) => ({ text }),
    trimEnd: () => null,
  });
  if (instruction !== null) system.push(...plainText(instruction));
  const contents = messages.map(({ role, content }) => ({
    role: role === 'assistant' ? ('model' as const) : ('user' as const),
    parts: role === 'assistant' ? content : resultsFirst(content),
  }));
  if (!context.model.isGemma) return { system, contents };
  contents[0]?.parts.unshift(...system);
  return { system: [], contents };
}

/** The results of a turn's calls come first, then the media that a result cannot contain. */
function resultsFirst(parts: WrittenPart[]): WrittenPart[] {
  if (!parts.some(isResult)) return parts;
  return [...parts.filter(isResult), ...parts.filter((part) => !isResult(part))];
}

function isResult(part: WrittenPart): boolean {
  return !(part instanceof RawJson) && part.functionResponse !== undefined;
}

/**
 * The contents with Google's stand-in on the first call of each turn that has lost its signature: models from Gemini 3 on
 * refuse a step that begins without one.
 */
export function signCalls(contents: Conversation['contents']): Conversation['contents'] {
  return contents.map((content) => {
    const first = content.parts.findIndex((part) => !(part instanceof RawJson) && part.functionCall !== undefined);
    const call = content.parts[first];
    if (call === undefined || call instanceof RawJson || call.thoughtSignature !== undefined) return content;
    return { ...content, parts: content.parts.with(first, { ...call, thoughtSignature: LOST_SIGNATURE }) };
  });
}
