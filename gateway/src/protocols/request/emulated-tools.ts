/**
 * Defines the tools that stand for what a format lacks: free-text tools as functions, and a tool whose arguments are the
 * answer. Checks that a choice names tools that exist.
 */
import type { GenerationRequest, Tool, ToolChoice } from '../../generation/request.ts';
import { refuseMember } from './translation-notes.ts';

/** A free-text tool as a function with one argument. */
export const FREE_TEXT = { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] };

export const JSON_INSTRUCTION = 'Answer with a single JSON object and nothing else.';

const TOOL_NAME = 'json_output';
const PURPOSE = 'Gives the final answer. Call it once, when no other tool is needed.';

/** A name for the output tool that none of the tools has. */
export function nameOutputTool(tools: readonly Tool[]): string {
  const taken = new Set(tools.map(({ name }) => name));
  let name = TOOL_NAME;
  for (let count = 2; taken.has(name); count++) name = `${TOOL_NAME}_${count}`;
  return name;
}

/** `description`: the client's words on the output format. */
export function describeOutputTool(description: string | null): string {
  return description === null ? PURPOSE : `${PURPOSE} ${description}`;
}

/** Upstream would refuse a choice among missing tools with a message about members that the client never wrote. */
export function requireTools(request: GenerationRequest, choice: ToolChoice, toolCount: number): void {
  const choiceMember = request.named.tool_choice ?? 'tool_choice';
  const known = new Set(request.tools.map(({ name }) => name));
  const names = choice.kind === 'tool' ? [choice.name] : choice.kind === 'allowed' ? choice.names : [];
  const unknown = names.find((name) => !known.has(name));
  if (unknown !== undefined) {
    const why = `found the tool ${JSON.stringify(unknown.slice(0, 64))}, which is not among tools; expected the name of one that is`;
    throw refuseMember(choiceMember, why);
  }
  if (toolCount === 0 && choice.kind !== 'auto' && choice.kind !== 'none') {
    throw refuseMember(choiceMember, 'found a choice without tools; send tools, or leave it out');
  }
}
