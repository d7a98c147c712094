/** Parses `messages`, one turn for each. The upstream's renderer checks that tool calls and results match. */
import type { CacheMark, Part, ToolResultPart } from '../../../generation/part.ts';
import type { Turn } from '../../../generation/request.ts';
import { elements, type JsonNode, member } from '../../../wire/json-node.ts';
import { refuse } from '../../request/check-member.ts';
import { refuseMember } from '../../request/translation-notes.ts';
import { ASSISTANT_MEMBERS, parseAssistant } from './parse-assistant.ts';
import { type GivenPart, type GivenType, parseContent } from './parse-part.ts';
import {
  dropUnknown,
  given,
  MARK_MEMBERS,
  parseCacheMark,
  type RequestReading,
  readName,
  readObject,
  readOptionalBoolean,
  readOptionalText,
} from './read-member.ts';

const ROLES = 'one of developer, system, user, assistant, tool, function';
const COMMON = ['role', 'content', 'name', ...MARK_MEMBERS];
const ASKED = new Set(COMMON);
const SAID = new Set([...COMMON, ...ASSISTANT_MEMBERS]);
/** `name` on a tool result is allowed but redundant: the call has it. */
const ANSWERED = new Set([...COMMON, 'tool_call_id', 'is_error']);

const INSTRUCTION_TYPES: readonly GivenType[] = ['text'];
const USER_TYPES: readonly GivenType[] = ['text', 'image_url', 'input_audio', 'file'];
/** Officially text only; several providers accept more. */
const RESULT_TYPES: readonly GivenType[] = ['text', 'image_url', 'file'];

/** Legacy calls have no id: a result belongs to the first call of its name that has no result yet. */
interface LegacyCall {
  readonly id: string;
  readonly name: string;
}

export function parseTurns(root: JsonNode, reading: RequestReading): Turn[] {
  const legacy: LegacyCall[] = [];
  const messages = member(root, 'messages');
  if (messages?.kind !== 'array') throw refuse('messages', messages ?? null, 'an array of messages');
  return elements(messages).map((message, index) => parseTurn(message, index, legacy, reading));
}

function parseTurn(node: JsonNode, index: number, legacy: LegacyCall[], reading: RequestReading): Turn {
  const path = `messages.${index}`;
  const message = readObject(node, path, 'a message (an object)');
  const role = readName(given(message, 'role'), `${path}.role`, ROLES);
  switch (role) {
    case 'system':
    case 'developer':
    case 'user': {
      const types = role === 'user' ? USER_TYPES : INSTRUCTION_TYPES;
      dropUnknown(message, ASKED, 'messages[]', reading);
      return {
        role,
        name: nameOf(message, path),
        parts: markLast(message, path, parseAsked(message, path, types, reading), reading),
        path,
      };
    }
    case 'assistant': {
      dropUnknown(message, SAID, 'messages[]', reading);
      const parts = parseAssistant(message, path, `call_legacy_${index}`, reading);
      const old = given(message, 'function_call') === undefined ? undefined : parts.at(-1);
      if (old?.kind === 'tool_call') legacy.push({ id: old.id, name: old.name });
      return { role, name: nameOf(message, path), parts: markLast(message, path, parts, reading), path };
    }
    case 'tool':
    case 'function': {
      dropUnknown(message, ANSWERED, 'messages[]', reading);
      const call_id = role === 'tool' ? toolCallId(message, path) : takeLegacyId(message, path, legacy);
      return { role: 'user', name: null, parts: [parseResult(message, path, call_id, reading)], path };
    }
    default:
      throw refuse(`${path}.role`, given(message, 'role') ?? null, ROLES);
  }
}

function parseAsked(
  message: JsonNode,
  path: string,
  types: readonly GivenType[],
  reading: RequestReading,
): GivenPart[] {
  const content = given(message, 'content');
  if (content === undefined) throw refuse(`${path}.content`, null, 'a string or an array of parts');
  return parseContent(content, `${path}.content`, types, reading);
}

function parseResult(message: JsonNode, path: string, call_id: string, reading: RequestReading): ToolResultPart {
  const content = given(message, 'content');
  return {
    kind: 'tool_result',
    call_id,
    parts: content === undefined ? [] : parseContent(content, `${path}.content`, RESULT_TYPES, reading),
    is_error: readOptionalBoolean(message, 'is_error', `${path}.is_error`) ?? false,
    cache_mark: parseCacheMark(message, path, reading),
  };
}

function toolCallId(message: JsonNode, path: string): string {
  return readName(given(message, 'tool_call_id'), `${path}.tool_call_id`, 'the id of the call that this answers');
}

function takeLegacyId(message: JsonNode, path: string, legacy: LegacyCall[]): string {
  const name = readName(given(message, 'name'), `${path}.name`, 'the name of the function that this answers');
  const at = legacy.findIndex((call) => call.name === name);
  const [call] = at < 0 ? [] : legacy.splice(at, 1);
  if (call === undefined) {
    throw refuseMember(
      path,
      `answers the function ${JSON.stringify(name)}, which no message before it calls; send the function_call first`,
    );
  }
  return call.id;
}

function nameOf(message: JsonNode, path: string): string | null {
  return readOptionalText(message, 'name', `${path}.name`);
}

/** A cache mark on the message applies to its last part. */
function markLast(message: JsonNode, path: string, parts: Part[], reading: RequestReading): Part[] {
  const mark = parseCacheMark(message, path, reading);
  const last = parts.at(-1);
  return mark === null || last === undefined ? parts : [...parts.slice(0, -1), withMark(last, mark)];
}

function withMark(part: Part, cache_mark: CacheMark): Part {
  return 'cache_mark' in part ? { ...part, cache_mark: part.cache_mark ?? cache_mark } : part;
}
