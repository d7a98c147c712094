/** Chooses which of the offered tools the demo model calls: by the caller's choice, else by the words of the prompt. */
import type { Tool } from '../generation/request.ts';
import { refuseMember } from '../protocols/request/translation-notes.ts';
import { excerptText } from './excerpt.ts';
import type { Prompt } from './read-prompt.ts';

/** A tool that runs at the client. The demo model runs no tools and does not know the arguments of built-in ones. */
export type CallableTool = Exclude<Tool, { readonly kind: 'opaque' }>;

/** One word of the tool's name makes a match, or this many words of its description. */
const MATCH_POINTS = 3;
/** A longer part of a description would match any message. */
const DESCRIPTION_CHARS_READ = 200;
const PARALLEL_MAX = 2;

/** Words that say nothing about a tool's purpose. */
const WORDS = `the and for with this that from what how you your are can could would will please have has does about into which
  get set run make use call tool function one some any given specific return returns want need like tell give show`;
const EMPTY_WORDS = new Set(WORDS.split(/\s+/));

/**
 * The tools to call now, at most two. A forced choice is always called. Otherwise a tool is called when the last user
 * message shares words with its name or description, and the conversation does not end with tool results.
 */
export function chooseTools({ request, text, results }: Prompt): readonly CallableTool[] {
  const choice = request.tool_choice ?? { kind: 'auto' };
  if (choice.kind === 'none') return [];
  const mode = choice.kind === 'allowed' ? choice.mode : choice.kind;
  const names = choice.kind === 'tool' ? [choice.name] : choice.kind === 'allowed' ? choice.names : null;
  const callable = request.tools.filter((tool) => tool.kind !== 'opaque');
  const offered = callable.filter(({ name }) => names === null || names.includes(name));
  if (mode !== 'auto' && offered.length === 0) {
    const member = request.named.tool_choice ?? 'tool_choice';
    throw refuseMember(member, 'asks for a tool, but allows none of `tools` that the demo model can call; send one');
  }
  if (mode === 'tool') return offered.slice(0, 1);
  if (mode === 'auto' && results.length > 0) return [];
  const matches = rankTools(offered, text).slice(0, request.parallel_tool_calls === false ? 1 : PARALLEL_MAX);
  return matches.length === 0 && mode === 'required' ? offered.slice(0, 1) : matches;
}

/** The matching tools, best first; on a tie, the one offered first. */
function rankTools(tools: readonly CallableTool[], text: string): readonly CallableTool[] {
  const asked = findWords(excerptText(text, 1_000));
  return tools
    .map((tool) => ({ tool, points: scoreTool(tool, asked) }))
    .filter(({ points }) => points >= MATCH_POINTS)
    .sort((one, other) => other.points - one.points)
    .map(({ tool }) => tool);
}

function scoreTool(tool: CallableTool, asked: ReadonlySet<string>): number {
  const name = findWords(tool.name.replace(/([a-z0-9])([A-Z])/g, '$1 $2').replace(/[_-]+/g, ' '));
  const described = findWords((tool.description ?? '').slice(0, DESCRIPTION_CHARS_READ));
  let points = 0;
  for (const word of asked) {
    if (name.has(word)) points += MATCH_POINTS;
    else if (described.has(word)) points += 1;
  }
  return points;
}

function findWords(text: string): ReadonlySet<string> {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? [];
  return new Set(words.filter((word) => !EMPTY_WORDS.has(word)).map(stem));
}

/** Removes the plain plural and verb endings of English: `cities` becomes `city`, `searching` becomes `search`. */
function stem(word: string): string {
  return word.replace(/ies$/, 'y').replace(/(?<=...)(?:ing|ed|(?<!s)s)$/, '');
}
