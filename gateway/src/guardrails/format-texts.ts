/** Says where each format has texts: in requests, in whole answers, and in the records of streams. */
import type { ClientProtocolName } from '../protocols/names.ts';
import { children, elements, type JsonNode, member, memberName, numberValue, stringValue } from '../wire/json-node.ts';
import { type FoundTexts, findTexts, type JsonText, type Reading, SPELLING, SPELLING_OF_SPEECH } from './json-texts.ts';

type Roots = Readonly<Record<string, Reading>>;

/** Members of a request's body that a model reads. Others name, tune and identify. */
const REQUEST_ROOTS: { readonly [name in ClientProtocolName]: Roots } = {
  chat: { messages: 'content', prediction: 'content', tools: 'schema', functions: 'schema', response_format: 'schema' },
  messages: {
    system: 'content',
    messages: 'content',
    tools: 'schema',
    output_config: 'schema',
    output_format: 'schema',
  },
  responses: { input: 'content', instructions: 'content', prompt: 'content', tools: 'schema', text: 'schema' },
  gemini: {
    contents: 'content',
    systemInstruction: 'content',
    system_instruction: 'content',
    tools: 'schema',
    generationConfig: 'schema',
    generation_config: 'schema',
  },
  completions: { prompt: 'content', suffix: 'content' },
  embeddings: { input: 'content' },
  moderations: { input: 'content' },
  rerank: { query: 'content', documents: 'free' },
  images: { prompt: 'content' },
  audio: { input: 'content', instructions: 'content', prompt: 'content' },
};

/** Members of an answer, and of the records of a stream, that a client reads. */
const ANSWER_ROOTS: { readonly [name in ClientProtocolName]: readonly string[] } = {
  chat: ['choices'],
  messages: ['content', 'content_block', 'delta', 'message'],
  responses: [
    'output',
    'output_text',
    'delta',
    'text',
    'refusal',
    'arguments',
    'input',
    'code',
    'part',
    'item',
    'annotation',
  ],
  gemini: ['candidates'],
  completions: ['choices'],
  embeddings: [],
  moderations: [],
  rerank: ['results'],
  images: ['data', 'revised_prompt'],
  audio: ['text', 'delta', 'segments'],
};

/** Where Gemini's token counts have the request. */
const WRAPPED_REQUESTS = ['generateContentRequest', 'generate_content_request'];

/** The texts of a request. Throws OutlineFull. */
export function textsOfRequest(protocol: ClientProtocolName, root: JsonNode): readonly JsonText[] {
  const found: FoundTexts = { texts: [], spelling: SPELLING, spelled: [] };
  const roots = REQUEST_ROOTS[protocol];
  const wrapped = protocol === 'gemini' ? WRAPPED_REQUESTS.flatMap((name) => member(root, name) ?? []) : [];
  for (const node of [root, ...wrapped]) {
    for (const value of children(node)) {
      const name = memberName(value);
      const reading = Object.hasOwn(roots, name) ? roots[name] : undefined;
      if (reading !== undefined) findTexts(value, [name], reading, found);
    }
  }
  return found.texts.filter(({ isSigned }) => !isSigned);
}

/** Where a format takes the numbers of tokens in place of a text. */
const TOKEN_ROOTS: { readonly [name in ClientProtocolName]?: string } = { completions: 'prompt', embeddings: 'input' };

/** Whether a part of the request is spelled in token ids, which are no text that could be checked. */
export function hasTokenIds(protocol: ClientProtocolName, root: JsonNode): boolean {
  const name = TOKEN_ROOTS[protocol];
  const value = name === undefined ? undefined : member(root, name);
  if (value === undefined) return false;
  return elements(value).some((one) => one.kind === 'number' || elements(one).some(({ kind }) => kind === 'number'));
}

/** The texts of a whole answer. Throws OutlineFull. */
export function textsOfAnswer(protocol: ClientProtocolName, root: JsonNode, arePieces = false): FoundTexts {
  const isSpeech = protocol === 'audio';
  const found: FoundTexts = { texts: [], spelling: isSpeech ? SPELLING_OF_SPEECH : SPELLING, spelled: [], arePieces };
  const roots = ANSWER_ROOTS[protocol];
  const type = stringOf(root, 'type');
  for (const value of children(root)) {
    const name = memberName(value);
    const isSpelled = isSpeech ? SPELLING_OF_SPEECH.has(name) : name === 'logprobs';
    if (isSpelled && value.kind !== 'null') found.spelled.push(value);
    else if (name === 'response' && protocol === 'responses') {
      const { texts, spelled } = textsOfAnswer(protocol, value);
      found.texts.push(...texts.map((text) => ({ ...text, path: ['response', ...text.path] })));
      found.spelled.push(...spelled);
    } else if (protocol === 'rerank' && name === 'results') findTexts(value, [name], 'free', found);
    else if (roots.includes(name)) readRoot(value, name, type, found);
  }
  return found;
}

/** A member of the root whose meaning follows from the type of its record. */
function readRoot(value: JsonNode, name: string, type: string | undefined, found: FoundTexts): void {
  const before = found.texts.length;
  findTexts(value, [name], 'content', found);
  if (value.kind !== 'string' || type === undefined || !/arguments|custom_tool_call_input/.test(type)) return;
  for (let at = before; at < found.texts.length; at++) {
    found.texts[at] = { ...(found.texts[at] as JsonText), isCall: true };
  }
}

/** A text of a record. `channel`: the longer text that it is a piece of; null: it is whole. */
export interface RecordText {
  readonly text: JsonText;
  readonly channel: string | null;
  /** It is a piece of JSON: the arguments of a tool call. */
  readonly isJson: boolean;
}

export interface RecordTexts {
  readonly texts: readonly RecordText[];
  readonly spelled: readonly JsonNode[];
  /** The beginnings of the names of channels that end with this record. */
  readonly ends: readonly string[];
}

/** The texts of a record of a stream. Throws OutlineFull. */
export function textsOfRecord(protocol: ClientProtocolName, root: JsonNode): RecordTexts {
  const { texts, spelled } = textsOfAnswer(protocol, root, protocol === 'chat');
  const type = stringOf(root, 'type') ?? '';
  const place = ['index', 'output_index', 'content_index', 'summary_index']
    .map((name) => numberOf(root, name))
    .join('/');
  return {
    texts: texts.map((text) => {
      const channel = channelOf(protocol, type, place, text.path);
      const isJson = text.isCall && channel !== null && !type.includes('custom_tool_call_input');
      return { text, channel, isJson };
    }),
    spelled,
    ends: endsOf(protocol, root, type, place),
  };
}

/** Null: the text is whole in its record. */
function channelOf(protocol: ClientProtocolName, type: string, place: string, path: readonly string[]): string | null {
  const [first, second] = path;
  switch (protocol) {
    case 'messages':
      return (first === 'delta' || first === 'content_block') && path.length === 2 ? `${place}/${second}` : null;
    case 'responses':
    case 'audio':
      return first === 'delta' && path.length === 1 ? `${place}/${type}` : null;
    case 'gemini':
      // Parts of a text follow each other, whatever their places.
      return path.at(-1) === 'text' ? `${second}/text` : null;
    case 'chat':
    case 'completions':
      return `${second}/${path.slice(2).join('/')}`;
    case 'embeddings':
    case 'moderations':
    case 'rerank':
    case 'images':
      return null;
  }
}

function endsOf(protocol: ClientProtocolName, root: JsonNode, type: string, place: string): string[] {
  if (protocol === 'messages') return type === 'content_block_stop' ? [`${place}/`] : [];
  if (protocol === 'responses' || protocol === 'audio') {
    if (type === 'response.output_item.done') return [`/${numberOf(root, 'output_index')}/`];
    return type.endsWith('.done') ? [`${place}/${type.slice(0, -'done'.length)}delta`] : [];
  }
  const list = member(root, protocol === 'gemini' ? 'candidates' : 'choices');
  if (list === undefined) return [];
  return elements(list).flatMap((choice, at) => {
    const reason = member(choice, protocol === 'gemini' ? 'finishReason' : 'finish_reason');
    const index = numberOf(choice, 'index');
    return reason?.kind === 'string' ? [`${index === '' ? at : index}/`] : [];
  });
}

function stringOf(node: JsonNode, name: string): string | undefined {
  const value = member(node, name);
  return value === undefined ? undefined : stringValue(value);
}

function numberOf(node: JsonNode, name: string): string {
  const value = member(node, name);
  return String((value === undefined ? undefined : numberValue(value)) ?? '');
}
