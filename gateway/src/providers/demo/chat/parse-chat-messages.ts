/** Owns the reading of `messages` of a chat completions request, with the order that tool calls and results must keep. */
import { BodyProblem, type Path, refuse } from '../body-problem.ts';
import { checkArray, checkObject, checkRequiredWord, checkString, checkText } from '../check-member.ts';
import { isAbsent, type JsonObject } from '../json-value.ts';
import type { Conversation, Media, ToolResult } from '../prompt.ts';
import { parseChatContent } from './parse-chat-content.ts';

const ROLES = ['developer', 'system', 'user', 'assistant', 'tool', 'function'];

/** What the walk over the messages has gathered so far. */
interface Walk {
  lastUserText: string;
  userTurns: number;
  media: readonly Media[];
  results: ToolResult[];
  /** Calls of the last assistant message that no tool message has answered: id → tool name. */
  readonly pending: Map<string, string>;
}

export function parseChatMessages(value: unknown): Conversation {
  const messages = checkArray(value, ['messages']);
  if (messages.length === 0) refuse(['messages'], messages, 'at least one message');
  const walk: Walk = { lastUserText: '', userTurns: 0, media: [], results: [], pending: new Map() };
  for (const [at, entry] of messages.entries())
    readMessage(walk, checkObject(entry, ['messages', at]), ['messages', at]);
  requireAnswered(walk, ['messages', messages.length - 1]);
  const { lastUserText, userTurns, media, results } = walk;
  return { lastUserText, userTurns, media, results };
}

function readMessage(walk: Walk, message: JsonObject, path: Path): void {
  const role = checkRequiredWord(message.role, [...path, 'role'], ROLES);
  if (role === 'tool') {
    readToolMessage(walk, message, path);
    return;
  }
  requireAnswered(walk, path);
  walk.results = [];
  const contentPath = [...path, 'content'];
  if (role === 'assistant') readAssistant(walk, message, path);
  else if (role === 'function') walk.results = [parseFunctionResult(message, path)];
  else if (role !== 'user') parseChatContent(message.content, contentPath, 'text');
  else {
    const { text, media } = parseChatContent(message.content, contentPath, 'user');
    Object.assign(walk, { lastUserText: text, media, userTurns: walk.userTurns + 1 });
  }
}

/** A result in the deprecated form, which answers a call by the function's name. */
function parseFunctionResult(message: JsonObject, path: Path): ToolResult {
  const name = checkText(message.name, [...path, 'name'], 'the name of the function');
  const text = isAbsent(message.content) ? '' : checkString(message.content, [...path, 'content']);
  return { name, text, isError: false };
}

function readToolMessage(walk: Walk, message: JsonObject, path: Path): void {
  const idPath = [...path, 'tool_call_id'];
  const id = checkText(message.tool_call_id, idPath, 'the id of the tool call that this message answers');
  const name = walk.pending.get(id);
  if (name === undefined) {
    const role = "a message with role 'tool' must answer a tool call of the preceding assistant message's `tool_calls`";
    throw new BodyProblem(idPath, `found ${JSON.stringify(id.slice(0, 64))}; ${role}, once`);
  }
  walk.pending.delete(id);
  walk.results.push({
    name,
    text: parseChatContent(message.content, [...path, 'content'], 'text').text,
    isError: false,
  });
}

function readAssistant(walk: Walk, message: JsonObject, path: Path): void {
  const calls = isAbsent(message.tool_calls) ? [] : checkArray(message.tool_calls, [...path, 'tool_calls']);
  const speaksOtherwise = [message.refusal, message.function_call, message.audio].some((member) => !isAbsent(member));
  if (!isAbsent(message.content)) parseChatContent(message.content, [...path, 'content'], 'assistant');
  else if (calls.length === 0 && !speaksOtherwise)
    refuse([...path, 'content'], message.content, 'content or `tool_calls`');
  calls.forEach((entry, at) => {
    const callPath = [...path, 'tool_calls', at];
    const call = checkObject(entry, callPath);
    const id = checkText(call.id, [...callPath, 'id'], 'an id');
    if (walk.pending.has(id)) refuse([...callPath, 'id'], id, 'an id that no other call of the message has');
    const type = checkRequiredWord(call.type, [...callPath, 'type'], ['function', 'custom']);
    const made = checkObject(call[type], [...callPath, type]);
    const argument = type === 'function' ? 'arguments' : 'input';
    checkString(made[argument], [...callPath, type, argument]);
    walk.pending.set(id, checkText(made.name, [...callPath, type, 'name'], 'the name of a tool'));
  });
}

function requireAnswered(walk: Walk, path: Path): void {
  if (walk.pending.size === 0) return;
  const ids = [...walk.pending.keys()].slice(0, 8).map((id) => id.slice(0, 64));
  const rule = "an assistant message with `tool_calls` must be followed by a message with role 'tool' for each call";
  throw new BodyProblem(path, `${rule}; no message answers tool_call_id ${ids.join(', ')}`);
}
