/**
 * Checks the messages of a chat completions request: roles and parts in allowed places, results directly after their
 * calls. From wire reference A.3 and A.4, without product code.
 */

import { type Json, list, object } from '../wire-text.ts';
import { isLegalName } from './legal-name.ts';

/** `reasoning_content` is accepted by the suites' upstream. */
const MEMBERS: { readonly [role: string]: readonly string[] } = {
  developer: ['content', 'name'],
  system: ['content', 'name'],
  user: ['content', 'name'],
  assistant: ['content', 'name', 'refusal', 'tool_calls', 'reasoning_content'],
  tool: ['content', 'tool_call_id'],
};
const PARTS: { readonly [role: string]: readonly string[] } = {
  developer: ['text'],
  system: ['text'],
  user: ['text', 'image_url', 'input_audio', 'file'],
  assistant: ['text', 'refusal'],
  // Officially text only; the suites' upstream accepts media there.
  tool: ['text', 'image_url', 'file'],
};
const NAME_CHARS_MAX = 64;
const BREAKPOINTS_MAX = 4;

/** Returns every rule that the messages break. */
export function judgeChatMessages(body: Json): string[] {
  const faults: string[] = [];
  const messages = list(body.messages).map((message) => object(message) ?? {});
  if (messages.length === 0) faults.push('no messages');
  let awaited: string[] = [];
  for (const [index, message] of messages.entries()) {
    const at = `messages.${index}`;
    faults.push(...judgeMessage(message).map((fault) => `${at}: ${fault}`));
    if (message.role === 'tool') {
      const id = String(message.tool_call_id);
      if (!awaited.includes(id)) faults.push(`${at}: a result of ${id}, which nobody awaits`);
      awaited = awaited.filter((one) => one !== id);
      continue;
    }
    if (awaited.length > 0) faults.push(`${at}: the calls ${awaited} have no result`);
    awaited = list(message.tool_calls).map((call) => String(object(call)?.id));
    if (new Set(awaited).size < awaited.length) faults.push(`${at}: two calls of one id`);
  }
  if (awaited.length > 0) faults.push(`at the end the calls ${awaited} have no result`);
  const breakpoints = messages.flatMap(partsOf).filter((part) => part.prompt_cache_breakpoint !== undefined).length;
  return breakpoints > BREAKPOINTS_MAX ? [...faults, `${breakpoints} breakpoints`] : faults;
}

function partsOf({ content }: Json): readonly Json[] {
  return list(content).map((part) => object(part) ?? {});
}

function judgeMessage(message: Json): string[] {
  const role = String(message.role);
  const members = MEMBERS[role];
  if (members === undefined) return [`the role ${role}`];
  const known = new Set(['role', ...members]);
  const faults = Object.keys(message).flatMap((name) => (known.has(name) ? [] : [`a ${role} has ${name}`]));
  const { content, name, refusal, reasoning_content, tool_calls } = message;
  for (const text of [name, refusal, reasoning_content]) {
    if (text !== undefined && (typeof text !== 'string' || text === '')) faults.push(`a ${role} says ${text}`);
  }
  const isSilent = role === 'assistant' && content === null && list(tool_calls).length > 0;
  const isParts = Array.isArray(content) && content.length > 0;
  if (!isSilent && typeof content !== 'string' && !isParts) faults.push(`the content of a ${role}`);
  if (tool_calls !== undefined && list(tool_calls).length === 0) faults.push('an empty list of calls');
  return [
    ...faults,
    ...partsOf(message).flatMap((part) => judgePart(part, PARTS[role] ?? [])),
    ...list(tool_calls).flatMap((call) => judgeCall(object(call) ?? {})),
  ];
}

function judgeCall(call: Json): string[] {
  const { id, type, ...rest } = call;
  const called = object(rest[String(type)]);
  const callInput = type === 'custom' ? called?.input : called?.arguments;
  const holds = typeof id === 'string' && id !== '' && ['function', 'custom'].includes(String(type));
  const isWhole =
    holds &&
    Object.keys(rest).length === 1 &&
    isLegalName(called?.name, NAME_CHARS_MAX) &&
    typeof callInput === 'string';
  return isWhole && callInput !== '' ? [] : [`the call ${JSON.stringify(call).slice(0, 80)}`];
}

function judgePart(part: Json, types: readonly string[]): string[] {
  const { type, prompt_cache_breakpoint: mark, ...rest } = part;
  const faults = types.includes(String(type)) ? [] : [`a part of type ${type}`];
  if (Object.keys(rest).join() !== String(type)) faults.push(`a ${type} with ${Object.keys(rest)}`);
  if (mark !== undefined) {
    const { mode, ttl } = object(mark) ?? {};
    const holds = mode === 'explicit' && (ttl === undefined || ttl === '30m' || ttl === '12h');
    if (!holds) faults.push('a breakpoint');
  }
  return judgeHeld(String(type), rest[String(type)]) ? faults : [...faults, `what a ${type} holds`];
}

function judgeHeld(type: string, held: unknown): boolean {
  const { url, detail, data, format, file_data, filename } = object(held) ?? {};
  switch (type) {
    case 'image_url': {
      const isDetail = detail === undefined || ['auto', 'low', 'high', 'original'].includes(String(detail));
      return isDetail && /^(https?:\/\/|data:image\/[a-z+.-]+;base64,)/.test(String(url));
    }
    case 'input_audio':
      return typeof data === 'string' && typeof format === 'string';
    case 'file':
      return /^data:[\w.+-]+\/[\w.+-]+;base64,/.test(String(file_data)) && typeof filename === 'string';
    default:
      return typeof held === 'string';
  }
}
