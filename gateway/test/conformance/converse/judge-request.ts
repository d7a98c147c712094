/**
 * Judges whether Bedrock would take a Converse request, from provider reference C.3 alone: the rules that its service
 * model does not have. Uses no product code, so that writer and judge cannot share an error.
 */
import { type Json, list, object } from '../wire-text.ts';
import { judgeShape } from './judge-shape.ts';

const CACHE_POINTS_MAX = 4;

/** Every rule that the body breaks; empty if it is legal. */
export function judgeConverseRequest(body: Json, stream: boolean): string[] {
  const messages = blocksOf(body.messages);
  const lists = [blocksOf(object(body.toolConfig)?.tools), blocksOf(body.system), ...messages.map(contentOf)];
  return [
    ...judgeShape(body, stream),
    ...judgeTurns(messages),
    ...judgeTools(body, messages),
    ...judgeCachePoints(lists),
    ...judgeDocuments(messages),
    ...blocksOf(body.system).flatMap(({ text }, index) => judgeSpoken(text, `system[${index}]`)),
  ];
}

function blocksOf(value: unknown): readonly Json[] {
  return list(value).map((one) => object(one) ?? {});
}

function objects(values: readonly unknown[]): Json[] {
  return values.map(object).filter((one) => one !== null);
}

function contentOf({ content }: Json): readonly Json[] {
  return blocksOf(content);
}

function judgeSpoken(text: unknown, at: string): string[] {
  return text === undefined || String(text).trim() !== '' ? [] : [`${at} has a blank text`];
}

/** Members of content blocks, and the roles whose messages may have them. */
const PLACES: Readonly<Record<string, readonly string[]>> = {
  text: ['user', 'assistant', 'system'],
  image: ['user'],
  document: ['user'],
  audio: ['user'],
  searchResult: ['user'],
  toolResult: ['user'],
  toolUse: ['assistant'],
  reasoningContent: ['assistant'],
  cachePoint: ['user', 'assistant', 'system'],
};

function judgeTurns(messages: readonly Json[]): string[] {
  const faults = messages[0]?.role === 'user' ? [] : ['the first message is not the user’s'];
  for (const [index, message] of messages.entries()) {
    const at = `messages[${index}]`;
    const role = String(message.role);
    const content = contentOf(message);
    if (content.length === 0) faults.push(`${at} is empty`);
    if (role !== 'system' && messages[index - 1]?.role === role) faults.push(`${at} is a second of the ${role}`);
    for (const block of content) {
      const [kind = ''] = Object.keys(block);
      if (!(PLACES[kind] ?? []).includes(role)) faults.push(`${at} of the ${role} has a ${kind}`);
      faults.push(...judgeSpoken(block.text, at), ...judgeInner(block, at));
    }
    faults.push(...judgePairs(message, messages[index - 1], messages[index + 1]).map((fault) => `${at}: ${fault}`));
  }
  const last = messages.at(-1);
  const beginning = last?.role === 'assistant' ? contentOf(last).at(-1)?.text : undefined;
  if (typeof beginning === 'string' && beginning !== beginning.trimEnd()) faults.push('the beginning ends with space');
  return faults;
}

const MAGIC: Readonly<Record<string, RegExp>> = {
  png: /^89504e47/,
  jpeg: /^ffd8ff/,
  gif: /^47494638/,
  webp: /^52494646.{8}57454250/,
};

function judgeInner(block: Json, at: string): string[] {
  const image = object(block.image);
  const result = object(block.toolResult);
  const reasoning = object(object(block.reasoningContent)?.reasoningText);
  const faults: string[] = [];
  if (image !== null) {
    const { bytes } = object(image.source) ?? {};
    const head = Buffer.from(String(bytes).slice(0, 32), 'base64').toString('hex');
    if (bytes !== undefined && !MAGIC[String(image.format)]?.test(head))
      faults.push(`${at} has an image called ${image.format}: ${head}`);
  }
  if (reasoning !== null && (typeof reasoning.signature !== 'string' || reasoning.signature === '')) {
    faults.push(`${at} has unsigned reasoning`);
  }
  if (result === null) return faults;
  const inner = blocksOf(result.content);
  if (inner.length === 0) faults.push(`${at} has an empty result`);
  for (const one of inner) faults.push(...judgeSpoken(one.text, `a result of ${at}`), ...judgeInner(one, at));
  return faults;
}

/** Each call has one result, at the start of the next message; each result has its call in the message before. */
function judgePairs(message: Json, before: Json | undefined, after: Json | undefined): string[] {
  const idsOf = (one: Json | undefined, member: string) =>
    one === undefined ? [] : contentOf(one).flatMap((block) => object(block[member])?.toolUseId ?? []);
  const calls = idsOf(message, 'toolUse');
  const faults = new Set(calls).size < calls.length ? ['two calls of one id'] : [];
  if (calls.length > 0) {
    const results = idsOf(after, 'toolResult');
    if (results.join() !== calls.join()) faults.push(`the calls ${calls} are followed by ${results}`);
    const others = after === undefined ? [] : contentOf(after).filter(({ cachePoint }) => cachePoint === undefined);
    const isFirst = others.slice(0, calls.length).every(({ toolResult }) => toolResult !== undefined);
    if (!isFirst) faults.push('the results are not first');
  }
  if (idsOf(message, 'toolResult').length > idsOf(before, 'toolUse').length) faults.push('a result without a call');
  return faults;
}

function judgeTools({ toolConfig, additionalModelRequestFields }: Json, messages: readonly Json[]): string[] {
  const tools = objects(blocksOf(object(toolConfig)?.tools).map(({ toolSpec }) => toolSpec));
  const names = tools.map(({ name }) => String(name));
  const faults = new Set(names).size < names.length ? [`tools of one name: ${names}`] : [];
  for (const { name, inputSchema } of tools) {
    if (object(object(inputSchema)?.json)?.type !== 'object') faults.push(`the schema of ${name} is of no object`);
  }
  const uses = messages.some((message) =>
    contentOf(message).some(({ toolUse, toolResult }) => toolUse !== undefined || toolResult !== undefined),
  );
  if (uses && toolConfig === undefined) faults.push('calls in the history, and no toolConfig');
  const choice = object(object(toolConfig)?.toolChoice);
  const chosen = object(choice?.tool)?.name;
  if (chosen !== undefined && !names.includes(String(chosen))) faults.push(`a choice of ${chosen}`);
  const fields = object(additionalModelRequestFields);
  if (fields?.tool_choice !== undefined && choice !== null) faults.push('two tool choices');
  const isForced = choice?.any !== undefined || chosen !== undefined;
  const thinks = ['enabled', 'adaptive'].includes(String(object(fields?.thinking)?.type));
  if (isForced && thinks) faults.push('a forced tool beside thinking');
  return faults;
}

function judgeCachePoints(lists: ReadonlyArray<readonly Json[]>): string[] {
  const isPoint = (block: Json | undefined) => block?.cachePoint !== undefined;
  const count = lists.flat().filter(isPoint).length;
  const faults = count > CACHE_POINTS_MAX ? [`${count} cache points`] : [];
  for (const blocks of lists) {
    if (isPoint(blocks[0])) faults.push('a cache point after nothing');
    if (blocks.some((block, index) => isPoint(block) && isPoint(blocks[index + 1]))) faults.push('two cache points');
  }
  return faults;
}

function judgeDocuments(messages: readonly Json[]): string[] {
  const faults: string[] = [];
  const names: string[] = [];
  for (const [index, message] of messages.entries()) {
    const content = contentOf(message);
    const inner = content.flatMap(({ toolResult }) => blocksOf(object(toolResult)?.content));
    const documents = objects([...content, ...inner].map(({ document }) => document));
    names.push(...documents.map(({ name }) => String(name)));
    const isBeside = content.some(({ text }) => text !== undefined);
    if (content.some(({ document }) => document !== undefined) && !isBeside) {
      faults.push(`messages[${index}] has a document without a text`);
    }
  }
  if (new Set(names).size < names.length) faults.push(`documents of one name: ${names}`);
  const odd = names.filter((name) => !/^[A-Za-z0-9()[\]-]+(?: [A-Za-z0-9()[\]-]+)*$/.test(name));
  return odd.length === 0 ? faults : [...faults, `the document names ${JSON.stringify(odd)}`];
}
