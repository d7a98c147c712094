/** Reads the input of a request for embeddings: texts, or the token ids of OpenAI's tokenizers. */
import { invalidRequest } from '../../../errors/call-failure.ts';
import {
  children,
  elements,
  type JsonNode,
  type JsonOutline,
  member,
  memberName,
  stringValue,
} from '../../../wire/json-node.ts';
import { isVoid } from '../../openai/read-member.ts';
import { checkKind, refuse } from '../../request/request-facts.ts';
import type { TranslationNotes } from '../../request/translation-notes.ts';
import type { UpstreamTraits } from '../../upstream-traits.ts';

const INPUT = 'a string, token ids, or an array of strings or of token ids';

/** The input. Throws CallFailure `invalid_request` without one. */
export function inputOf({ root }: JsonOutline): JsonNode {
  const input = member(root, 'input');
  if (input === undefined) throw refuse('input', null, INPUT);
  return input;
}

/** The number of token ids of an input; 0: it is text. Throws CallFailure `invalid_request` where it is neither. */
export function countTokenIds(input: JsonNode): number {
  if (input.kind === 'string') return 0;
  if (input.kind !== 'array') throw refuse('input', input, INPUT);
  let ids = 0;
  for (const [index, item] of elements(input).entries()) {
    if (item.kind === 'number') ids += 1;
    else if (item.kind === 'array') ids += countIds(item, index);
    // Some hosts take images and texts as objects.
    else checkKind(item, `input.${index}`, ['string', 'object'], 'a string or token ids');
  }
  return ids;
}

function countIds(item: JsonNode, index: number): number {
  const ids = elements(item);
  const other = ids.find(({ kind }) => kind !== 'number');
  if (other !== undefined) throw refuse(`input.${index}`, other, 'token ids: integers');
  return ids.length;
}

/** OpenAI's models under the names that other hosts give them, such as `openai/text-embedding-3-small`. */
const OF_OPENAI = /(?:^|\/)text-embedding-(?:3|ada)/;

/**
 * Refuses token ids for models of others, which would read other words in them. Throws CallFailure `invalid_request`.
 * Clients such as LangChain for Python send them by default (`check_embedding_ctx_length`).
 */
export function refuseTokenIds(input: JsonNode, { model, chat }: UpstreamTraits): void {
  if (chat.openaiMembers || OF_OPENAI.test(model) || countTokenIds(input) === 0) return;
  throw invalidRequest(
    `input: found token ids; expected text, because only OpenAI's models read OpenAI's tokens and ${model} is none of them`,
    'input',
  );
}

/** The texts of an input. Throws CallFailure `invalid_request` where it has anything else. */
export function textsOf(input: JsonNode): readonly string[] {
  const items = input.kind === 'array' ? elements(input) : [input];
  return items.map((item, index) => {
    const text = stringValue(item);
    if (text === undefined) throw refuse(`input.${index}`, item, 'a string: this model takes text only');
    return text;
  });
}

const CARRIED = ['model', 'input', 'dimensions', 'encoding_format'];

/**
 * Notes the members that a host's own form has no place for, beyond those of the format and its `own`. Throws CallFailure
 * `invalid_request` under a strict key.
 */
export function dropOthers(root: JsonNode, own: readonly string[], host: string, notes: TranslationNotes): void {
  for (const node of children(root)) {
    const name = memberName(node);
    if (!CARRIED.includes(name) && !own.includes(name) && !isVoid(node)) {
      notes.drop(name, `${host} has no place for it`);
    }
  }
}

/** Whether the client asks for vectors as base64 text. */
export function wantsBase64({ root }: JsonOutline): boolean {
  const encoding = member(root, 'encoding_format');
  return encoding !== undefined && stringValue(encoding) === 'base64';
}
