/** Owns the decision which of the offered tools the demo model calls. Arguments are made elsewhere. */
import { excerptText } from './excerpt.ts';
import type { Prompt, Tool } from './prompt.ts';

/** A word of the tool's name counts as much as three words of its description; three points make a match. */
const NAME_POINTS = 3;
const MATCH_POINTS = 3;
/** Only the beginning of a description is weighed: long ones would match anything. */
const DESCRIPTION_LOOKED_AT = 200;
const PARALLEL_MAX = 2;

/** Words that say nothing about what a tool is for. */
const EMPTY_WORDS = new Set(
  (
    'the and for with this that from what how you your are can could would will please have has does about into which ' +
    'get set run make use call tool function one some any given specific return returns want need like tell give show'
  ).split(' '),
);

/**
 * The tools to call now, at most two. A forced choice is always called. Otherwise a tool is called when the last user
 * message shares words with its name or description, and no tool results wait for an answer.
 */
export function chooseTools(prompt: Prompt): readonly Tool[] {
  const { tools, toolChoice } = prompt;
  if (toolChoice.mode === 'none' || tools.length === 0) return [];
  if (toolChoice.mode === 'named') return tools.filter((tool) => tool.name === toolChoice.name).slice(0, 1);
  if (toolChoice.mode === 'auto' && prompt.results.length > 0) return [];
  const matches = rankTools(tools, prompt.lastUserText).slice(0, prompt.parallelTools ? PARALLEL_MAX : 1);
  return matches.length === 0 && toolChoice.mode === 'required' ? tools.slice(0, 1) : matches;
}

/** The matching tools, best first; of equals the one that was offered first. */
function rankTools(tools: readonly Tool[], text: string): readonly Tool[] {
  const asked = findWords(excerptText(text, 1_000));
  return tools
    .map((tool) => ({ tool, points: scoreTool(tool, asked) }))
    .filter(({ points }) => points >= MATCH_POINTS)
    .sort((one, other) => other.points - one.points)
    .map(({ tool }) => tool);
}

function scoreTool(tool: Tool, asked: ReadonlySet<string>): number {
  const name = findWords(tool.name.replace(/([a-z0-9])([A-Z])/g, '$1 $2').replace(/[_-]+/g, ' '));
  const described = findWords(tool.description.slice(0, DESCRIPTION_LOOKED_AT));
  let points = 0;
  for (const word of asked) {
    if (name.has(word)) points += NAME_POINTS;
    else if (described.has(word)) points += 1;
  }
  return points;
}

function findWords(text: string): ReadonlySet<string> {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? [];
  return new Set(words.filter((word) => !EMPTY_WORDS.has(word)).map(stem));
}

/** Brings the plain plurals and verb endings of English together: `files` and `file`, `searching` and `search`. */
function stem(word: string): string {
  if (word.length > 5 && word.endsWith('ing')) return word.slice(0, -3);
  if (word.length > 4 && word.endsWith('ed')) return word.slice(0, -2);
  if (word.length > 4 && word.endsWith('ies')) return `${word.slice(0, -3)}y`;
  return word.length > 3 && word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word;
}
