/**
 * Parses `systemInstruction` and `contents` into turns. Calls and their results often have no ids: those of a call are
 * made by its place, and a result belongs to the first open call of its name. Wire reference D.1, read backwards.
 */
import {
  type DocumentPart,
  type MediaPart,
  type Part,
  type Source,
  type TextPart,
  type ToolCallPart,
  type ToolResultPart,
  textPart,
} from '../../../generation/part.ts';
import type { Turn } from '../../../generation/request.ts';
import { children, type JsonNode, jsonText, stringValue } from '../../../wire/json-node.ts';
import { type RequestReading, readName, readObject, readText } from '../../openai/read-member.ts';
import { refuse } from '../../request/request-facts.ts';
import { refuseMember } from '../../request/translation-notes.ts';
import { readSeal } from '../shared/seals.ts';
import { dropUnknown, given, listOf, nameOf, readOptionalText } from './members.ts';

/** A turn that further contents may join. */
type OpenTurn = Turn & { readonly parts: Part[] };

export function parseTurns(root: JsonNode, reading: RequestReading): Turn[] {
  const turns: OpenTurn[] = [];
  const instruction = given(root, 'systemInstruction');
  if (instruction !== undefined) turns.push(...parseInstruction(instruction));
  const contents = given(root, 'contents');
  if (contents === undefined) throw refuse('contents', null, 'an array of contents');
  const conversation = new Conversation(reading);
  for (const [index, content] of listOf(contents).entries()) {
    const path = `contents.${index}`;
    const { role, parts } = conversation.read(readObject(content, path, 'a content (an object with parts)'), path);
    const last = turns.at(-1);
    if (role === 'user') {
      if (parts.length > 0) turns.push({ role, name: null, parts: [...parts], path });
    } else if (last?.role === 'assistant') {
      addParts(last.parts, parts);
    } else if (parts.length > 0) {
      turns.push({ role, name: null, parts: addParts([], parts), path });
    }
  }
  return turns;
}

/** Clients keep an answer as its chunks came: a content of the model for each, with a piece of the text. */
function addParts(joined: Part[], parts: readonly Part[]): Part[] {
  for (const part of parts) {
    const last = joined.at(-1);
    if (part.kind === 'text' && last?.kind === 'text') joined[joined.length - 1] = textPart(last.text + part.text);
    else joined.push(part);
  }
  return joined;
}

/** Text only; Google takes a content, or a text alone. */
function parseInstruction(node: JsonNode): OpenTurn[] {
  const path = 'systemInstruction';
  const whole = stringValue(node);
  const parts =
    whole === undefined ? given(readObject(node, path, 'a content with parts of text'), 'parts') : undefined;
  const texts =
    whole === undefined
      ? (parts === undefined ? [] : listOf(parts)).map((part, index) => {
          const at = `${path}.parts.${index}`;
          return readText(given(readObject(part, at, 'a part (an object)'), 'text'), `${at}.text`);
        })
      : [whole];
  const said = texts.filter((text) => text !== '');
  return said.length === 0 ? [] : [{ role: 'system', name: null, parts: said.map(textPart), path }];
}

const ROLES = 'user or model';
const MEMBERS = {
  content: new Set(['role', 'parts']),
  call: new Set(['id', 'name', 'args']),
  result: new Set(['id', 'name', 'response', 'parts']),
} as const;
/** What says how a part came to be, or how to read a video. */
const BESIDE: ReadonlySet<string> = new Set(['thought', 'thoughtSignature']);
/** Parts of tools that Google ran; the answer after them says what they found. */
const HOSTED: ReadonlySet<string> = new Set(['executableCode', 'codeExecutionResult', 'toolCall', 'toolResponse']);

/** The contents so far: the calls that have no result yet. */
class Conversation {
  readonly #reading: RequestReading;
  /** The names of the open calls by their ids. */
  readonly #nameOf = new Map<string, string>();
  /** The ids of the open calls by their names, the first one first. */
  readonly #idsOf = new Map<string, Set<string>>();
  #calls = 0;

  constructor(reading: RequestReading) {
    this.#reading = reading;
  }

  read(content: JsonNode, path: string): { readonly role: 'user' | 'assistant'; readonly parts: readonly Part[] } {
    dropUnknown(content, MEMBERS.content, 'contents[]', this.#reading);
    const word = readOptionalText(content, 'role', `${path}.role`) ?? 'user';
    if (word !== 'user' && word !== 'model' && word !== 'function') {
      throw refuse(`${path}.role`, given(content, 'role') ?? null, ROLES);
    }
    const role = word === 'model' ? 'assistant' : 'user';
    const parts = given(content, 'parts');
    const list = parts === undefined ? [] : listOf(parts);
    return {
      role,
      parts: list.flatMap((part, index) => {
        const at = `${path}.parts.${index}`;
        const read = this.#readPart(readObject(part, at, 'a part (an object)'), at, role);
        return read.map((one): Part => (one.kind === 'text' ? one : { ...one, path: at }));
      }),
    };
  }

  #readPart(part: JsonNode, path: string, role: 'user' | 'assistant'): readonly Part[] {
    const signature = readOptionalText(part, 'thoughtSignature', `${path}.thoughtSignature`);
    const isThought = given(part, 'thought')?.kind === 'true';
    const seal = readSeal(signature);
    const parts: Part[] = seal === null ? [] : [sealedPart(seal)];
    // A signature without a seal is Google's own, which no other host takes: some refuse the member that holds it.
    // What a thought says is in its seal. Google wants no thoughts back, so one of its own is left out.
    if (isThought) return parts;
    for (const value of children(part)) {
      const name = nameOf(value);
      if (value.kind === 'null' || BESIDE.has(name)) continue;
      const at = `${path}.${name}`;
      if (name === 'text') parts.push(...[readText(value, at)].filter((text) => text !== '').map(textPart));
      else if (name === 'functionCall') parts.push(this.#readCall(readObject(value, at), at, role));
      else if (name === 'functionResponse') parts.push(this.#readResult(readObject(value, at), at, role));
      else if (name === 'inlineData') parts.push(parseInline(readObject(value, at), at));
      else if (name === 'fileData') parts.push(parseFile(readObject(value, at), at));
      else if (HOSTED.has(name)) {
        const why = 'what a tool of another provider did cannot be carried';
        this.#reading.notes.drop(`contents[].parts[].${name}`, why);
      } else this.#reading.notes.drop(`contents[].parts[].${name}`, 'says nothing to the model behind this name');
    }
    return parts;
  }

  #readCall(call: JsonNode, path: string, role: string): ToolCallPart {
    if (role !== 'assistant') throw refuse(`${path}`, call, 'a functionCall only in a content of the role model');
    dropUnknown(call, MEMBERS.call, 'contents[].parts[].functionCall', this.#reading);
    const name = readName(given(call, 'name'), `${path}.name`, 'the name of a function');
    const args = given(call, 'args');
    if (args !== undefined) readObject(args, `${path}.args`);
    const id = this.#takeId(readOptionalText(call, 'id', `${path}.id`));
    this.#nameOf.set(id, name);
    const ids = this.#idsOf.get(name) ?? new Set();
    this.#idsOf.set(name, ids.add(id));
    return {
      kind: 'tool_call',
      id,
      name,
      tool: 'function',
      arguments: args === undefined ? '{}' : jsonText(args),
      cache_mark: null,
    };
  }

  /** The same id for the same place in each request, so that caches of the prompt hold. */
  #takeId(given: string | null): string {
    this.#calls += 1;
    const isFree = given !== null && given !== '' && !this.#nameOf.has(given);
    let id = isFree ? given : `call_${this.#calls}`;
    while (this.#nameOf.has(id)) id = `${id}_`;
    return id;
  }

  #readResult(result: JsonNode, path: string, role: string): ToolResultPart {
    if (role !== 'user') throw refuse(path, result, 'a functionResponse only in a content of the role user');
    dropUnknown(result, MEMBERS.result, 'contents[].parts[].functionResponse', this.#reading);
    const name = readName(given(result, 'name'), `${path}.name`, 'the name of the function that was called');
    const id = readOptionalText(result, 'id', `${path}.id`);
    const { parts, is_error } = readResponse(given(result, 'response'));
    const media = given(result, 'parts');
    return {
      kind: 'tool_result',
      call_id: this.#callOf(id, name, path),
      parts: media === undefined ? parts : [...parts, ...readMedia(media, path)],
      is_error,
      cache_mark: null,
    };
  }

  /** The id of the call that a result answers: by its id, else the first open one of its name. */
  #callOf(id: string | null, name: string, path: string): string {
    const isOpen = id !== null && this.#nameOf.has(id);
    const [found] = isOpen ? [id] : (this.#idsOf.get(name) ?? []);
    if (found === undefined) {
      throw refuseMember(
        path,
        `found a result of ${JSON.stringify(name)}, which no functionCall before it asked for; send that call too, or leave the result out`,
      );
    }
    this.#idsOf.get(this.#nameOf.get(found) ?? '')?.delete(found);
    this.#nameOf.delete(found);
    return found;
  }
}

/** The plan opens it: reasoning, or the data of the call after it. */
function sealedPart(signature: string): Part {
  return { kind: 'reasoning', text: '', signature, redacted: false, issuer: null };
}

/** Members by which clients say whether a text is a result or an error; any other response is JSON for the model. */
const RESULT_MEMBERS: ReadonlySet<string> = new Set(['output', 'result', 'error']);

function readResponse(response: JsonNode | undefined): {
  readonly parts: readonly TextPart[];
  readonly is_error: boolean;
} {
  if (response === undefined) return { parts: [], is_error: false };
  const [only, ...others] = response.kind === 'object' ? children(response) : [];
  const name = only === undefined || others.length > 0 ? '' : nameOf(only);
  const text = only === undefined ? undefined : stringValue(only);
  const isError = name === 'error';
  if (only === undefined || !RESULT_MEMBERS.has(name))
    return { parts: [textPart(jsonText(response))], is_error: false };
  const said = text ?? jsonText(only);
  return { parts: said === '' ? [] : [textPart(said)], is_error: isError };
}

/** The media of a result. */
function readMedia(media: JsonNode, path: string): readonly MediumPart[] {
  return listOf(media).map((part, index) => {
    const at = `${path}.parts.${index}`;
    const inline = given(readObject(part, at, 'a part (an object)'), 'inlineData');
    if (inline !== undefined) return parseInline(readObject(inline, `${at}.inlineData`), `${at}.inlineData`);
    return parseFile(readObject(given(part, 'fileData'), `${at}.fileData`, 'a part with inlineData'), `${at}.fileData`);
  });
}

type MediumPart = TextPart | MediaPart | DocumentPart;

function parseInline(data: JsonNode, path: string): MediumPart {
  const type = readName(given(data, 'mimeType'), `${path}.mimeType`, 'the media type of the bytes');
  // URL-safe base64 is also taken, as protobuf takes it.
  const base64 = readText(given(data, 'data'), `${path}.data`, 'the bytes in base64')
    .replaceAll('-', '+')
    .replaceAll('_', '/');
  if (type.startsWith('text/')) {
    const source = { kind: 'text', text: Buffer.from(base64, 'base64').toString() } as const;
    return documentOf(source, readOptionalText(data, 'displayName', `${path}.displayName`));
  }
  return mediumOf(type, { kind: 'base64', media_type: type, base64 }, data, path);
}

function parseFile(file: JsonNode, path: string): MediumPart {
  const type = readName(given(file, 'mimeType'), `${path}.mimeType`, 'the media type of the file');
  const url = readName(given(file, 'fileUri'), `${path}.fileUri`, 'a public https URL');
  return mediumOf(type, { kind: 'url', url }, file, path);
}

function mediumOf(type: string, source: Source, holder: JsonNode, path: string): MediumPart {
  const [kind] = type.split('/', 1);
  if (kind === 'image' || kind === 'audio') return { kind, source, detail: null, cache_mark: null };
  if (type === 'application/pdf')
    return documentOf(source, readOptionalText(holder, 'displayName', `${path}.displayName`));
  throw refuseMember(
    `${path}.mimeType`,
    `found ${JSON.stringify(type.slice(0, 60))}; images, sound, PDF and text can be carried to the model behind this name`,
  );
}

function documentOf(source: Source, title: string | null): DocumentPart {
  return { kind: 'document', source, title, context: null, cites: false, cache_mark: null };
}
