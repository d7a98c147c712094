/** Owns reading `system` and `messages` into turns, each as it was written. Source: wire reference B.2 and C.2. */
import { textPart } from '../../generation/part.ts';
import type { Turn } from '../../generation/request.ts';
import { elements, type JsonNode, member, stringValue } from '../../wire/json-node.ts';
import { refuse } from '../check-member.ts';
import type { TranslationNotes } from '../translation-notes.ts';
import { dropOthers, given, optionalWord } from './member-values.ts';
import { parseBlock } from './parse-block.ts';
import { blockType, parseText } from './parse-content-block.ts';

const ROLES = ['user', 'assistant', 'system'] as const;
const KNOWN = new Set(['role', 'content']);

/** `system`, where there is one, as the first turn, and then the messages. */
export function parseTurns(root: JsonNode, notes: TranslationNotes): readonly Turn[] {
  const messages = member(root, 'messages');
  if (messages?.kind !== 'array') throw refuse('messages', messages ?? null, 'an array of messages');
  return [...parseSystem(root, notes), ...elements(messages).map((message, index) => parseTurn(message, index, notes))];
}

function parseSystem(root: JsonNode, notes: TranslationNotes): Turn[] {
  const system = given(root, 'system');
  if (system === null) return [];
  const whole = stringValue(system);
  if (whole === undefined && system.kind !== 'array')
    throw refuse('system', system, 'a string or an array of text blocks');
  const parts = whole === undefined ? parseSystemBlocks(system, notes) : whole === '' ? [] : [textPart(whole)];
  return parts.length === 0 ? [] : [{ role: 'system', name: null, parts, path: 'system' }];
}

function parseSystemBlocks(system: JsonNode, notes: TranslationNotes) {
  return elements(system).map((block, index) => {
    const path = `system.${index}`;
    if (blockType(block, path) !== 'text') throw refuse(`${path}.type`, member(block, 'type') ?? null, '"text"');
    return parseText(block, path, notes);
  });
}

function parseTurn(message: JsonNode, index: number, notes: TranslationNotes): Turn {
  const path = `messages.${index}`;
  if (message.kind !== 'object') throw refuse(path, message, 'a message (an object)');
  const role = optionalWord(message, 'role', path, ROLES);
  if (role === null) throw refuse(`${path}.role`, null, '"user" or "assistant"');
  dropOthers(message, KNOWN, 'messages', notes);
  const content = given(message, 'content');
  const whole = content === null ? undefined : stringValue(content);
  if (whole !== undefined) return { role, name: null, parts: [textPart(whole)], path };
  if (content?.kind !== 'array') throw refuse(`${path}.content`, content, 'a string or an array of content blocks');
  const parts = elements(content).map((block, at) => parseBlock(block, `${path}.content.${at}`, role, notes));
  return { role, name: null, parts, path };
}
