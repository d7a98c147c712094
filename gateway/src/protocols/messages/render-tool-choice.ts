/** Owns writing which tools may or must be called, and how many at once. Source: wire reference B.9 and C.1. */
import type { GenerationRequest, ToolChoice } from '../../generation/request.ts';
import { aliasText } from '../tool-names.ts';
import { refuseMember } from '../translation-notes.ts';
import type { UpstreamTraits } from '../upstream-traits.ts';
import type { OutputForm } from './choose-output-form.ts';
import { NAME_CHARS_MAX } from './render-part.ts';

export type WrittenChoice = {
  readonly type: 'auto' | 'any' | 'tool' | 'none';
  readonly name?: string;
  readonly disable_parallel_tool_use?: boolean;
};

/**
 * Null where nothing needs to be said. `toolCount` counts the answer's tool too. Throws CallFailure `invalid_request`.
 */
export function renderToolChoice(
  request: GenerationRequest,
  form: OutputForm,
  toolCount: number,
  traits: UpstreamTraits,
): WrittenChoice | null {
  const asked = request.tool_choice;
  if (asked !== null) requireTools(request, asked, toolCount);
  if (toolCount === 0) return null;
  if (form.tool !== null) return chooseForAnswer(request, form.tool.name, toolCount, traits);
  const choice = asked === null ? null : writeChoice(asked);
  if (choice !== null && !traits.messages.forcedToolChoice && isForced(choice)) {
    const why = `${traits.model} cannot be made to call a tool; ask for "auto", or choose another model`;
    throw refuseMember(nameOf(request), why);
  }
  if (request.parallel_tool_calls !== false || choice?.type === 'none') return choice;
  return { ...(choice ?? { type: 'auto' }), disable_parallel_tool_use: true };
}

/** Whether some tool must be called. */
export function isForced(choice: WrittenChoice | null): boolean {
  return choice?.type === 'any' || choice?.type === 'tool';
}

/** The answer comes through a tool of ours: that one alone, or any while the caller's own may be called before it. */
function chooseForAnswer(
  request: GenerationRequest,
  name: string,
  toolCount: number,
  traits: UpstreamTraits,
): WrittenChoice {
  const alone = toolCount === 1;
  const single = alone || request.parallel_tool_calls === false ? { disable_parallel_tool_use: true } : {};
  if (!traits.messages.forcedToolChoice) return { type: 'auto', ...single };
  return alone ? { type: 'tool', name, ...single } : { type: 'any', ...single };
}

function writeChoice(choice: ToolChoice): WrittenChoice {
  switch (choice.kind) {
    case 'auto':
    case 'none':
      return { type: choice.kind };
    case 'required':
      return { type: 'any' };
    case 'tool':
      return { type: 'tool', name: aliasText(choice.name, NAME_CHARS_MAX) };
    case 'allowed':
      return { type: choice.mode === 'required' ? 'any' : 'auto' };
  }
}

/**
 * A choice among tools that are not there would be refused by upstream in words about members the caller never wrote.
 */
function requireTools(request: GenerationRequest, choice: ToolChoice, toolCount: number): void {
  const known = new Set(request.tools.map(({ name }) => name));
  const names = choice.kind === 'tool' ? [choice.name] : choice.kind === 'allowed' ? choice.names : [];
  const unknown = names.find((name) => !known.has(name));
  if (unknown !== undefined) {
    const why = `found the tool ${JSON.stringify(unknown.slice(0, 64))}, which is not among tools; expected the name of one that is`;
    throw refuseMember(nameOf(request), why);
  }
  if (toolCount === 0 && choice.kind !== 'auto' && choice.kind !== 'none') {
    throw refuseMember(nameOf(request), 'found a choice without tools; send tools, or leave it out');
  }
}

function nameOf({ named }: GenerationRequest): string {
  return named.tool_choice ?? 'tool_choice';
}
