/** Owns the reading of `messages` of a messages request: the roles, and that tool uses and tool results stand in pairs. */
import { BodyProblem, type Path, refuse } from '../body-problem.ts';
import { checkArray, checkObject, checkRequiredWord } from '../check-member.ts';
import type { Conversation, Media, ToolResult } from '../prompt.ts';
import { type BlockReading, parseTurnBlocks } from './parse-blocks.ts';
import { parseTextBlocks } from './parse-text-blocks.ts';

const ROLES = ['user', 'assistant', 'system'];
const TURNS_MAX = 100_000;

/** What the walk over the turns has gathered. Turns of one role in a row count as one, as the API merges them. */
interface Walk {
  role: 'user' | 'assistant' | null;
  lastUserText: string;
  userTurns: number;
  media: Media[];
  results: ToolResult[];
  /** Tool uses of the last assistant turn that have no result yet: id → tool name. */
  readonly pending: Map<string, string>;
}

/** `isLatest`: the rules of the version 2026-10-21 hold. */
export function parseTurns(value: unknown, isLatest: boolean): Conversation {
  const turns = checkArray(value, ['messages']);
  if (turns.length === 0) refuse(['messages'], turns, 'at least one message');
  if (turns.length > TURNS_MAX) refuse(['messages'], turns, `at most ${TURNS_MAX}`);
  const walk: Walk = { role: null, lastUserText: '', userTurns: 0, media: [], results: [], pending: new Map() };
  for (const [at, entry] of turns.entries()) readTurn(walk, entry, ['messages', at], isLatest);
  requireResults(walk, ['messages', turns.length - 1]);
  const { lastUserText, userTurns, media, results } = walk;
  return { lastUserText, userTurns, media, results };
}

function readTurn(walk: Walk, entry: unknown, path: Path, isLatest: boolean): void {
  const turn = checkObject(entry, path);
  const role = checkRequiredWord(turn.role, [...path, 'role'], ROLES);
  if (role === 'system') parseTextBlocks(turn.content, [...path, 'content']);
  else if (role === 'user') readUserTurn(walk, parseTurnBlocks(turn.content, [...path, 'content'], 'user', isLatest));
  else {
    if (walk.role === null) refuse([...path, 'role'], role, 'the first message to be of the role user');
    if (walk.role === 'user') requireResults(walk, path);
    const reading = parseTurnBlocks(turn.content, [...path, 'content'], 'assistant', isLatest);
    Object.assign(walk, { role, results: [] });
    for (const { id, name } of reading.uses) walk.pending.set(id, name);
  }
}

function readUserTurn(walk: Walk, reading: BlockReading): void {
  const continues = walk.role === 'user';
  walk.role = 'user';
  if (!continues) Object.assign(walk, { userTurns: walk.userTurns + 1, media: [], results: [] });
  walk.media.push(...reading.media);
  if (reading.text !== '') walk.lastUserText = reading.text;
  for (const result of reading.results) {
    const name = walk.pending.get(result.id);
    if (name === undefined) {
      const rule = 'each `tool_result` block must have a corresponding `tool_use` block in the previous message';
      throw new BodyProblem(
        result.path,
        `unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${result.id.slice(0, 64)}; ${rule}`,
      );
    }
    walk.pending.delete(result.id);
    walk.results.push({ name, text: result.text, isError: result.isError });
  }
}

function requireResults(walk: Walk, path: Path): void {
  if (walk.pending.size === 0) return;
  const ids = [...walk.pending.keys()].slice(0, 8).map((id) => id.slice(0, 64));
  const rule = 'each `tool_use` block must have a corresponding `tool_result` block in the next message';
  throw new BodyProblem(
    path,
    `\`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${ids.join(', ')}; ${rule}`,
  );
}
