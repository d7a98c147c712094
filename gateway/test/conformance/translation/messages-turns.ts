/**
 * Checks the turns and blocks of a messages request: alternating roles, calls answered in the next turn, known block
 * shapes in allowed places. From wire reference B.2 and B.3, without product code.
 */

import { type Json, list, object } from '../wire-text.ts';
import { isLegalName } from './legal-name.ts';

const NAME_CHARS_MAX = 128;
const MAGIC: ReadonlyArray<readonly [type: string, hex: RegExp]> = [
  ['image/png', /^89504e47/],
  ['image/jpeg', /^ffd8ff/],
  ['image/gif', /^47494638/],
  ['image/webp', /^52494646.{8}57454250/],
];
const COMMON = ['type', 'cache_control'];
/** Members of each block, and the roles whose turns may have it (`result`: inside a tool's result). */
const BLOCKS: { readonly [type: string]: { readonly members: readonly string[]; readonly where: readonly string[] } } =
  {
    text: { members: ['text', 'citations'], where: ['user', 'assistant', 'system', 'result'] },
    image: { members: ['source'], where: ['user', 'result'] },
    document: { members: ['source', 'title', 'context', 'citations'], where: ['user', 'result'] },
    tool_use: { members: ['id', 'name', 'input'], where: ['assistant'] },
    tool_result: { members: ['tool_use_id', 'content', 'is_error'], where: ['user'] },
    thinking: { members: ['thinking', 'signature'], where: ['assistant'] },
    redacted_thinking: { members: ['data'], where: ['assistant'] },
  };
/** Anthropic's own blocks, which are returned unchanged. */
const NATIVE: ReadonlySet<string> = new Set([
  ...['search_result', 'server_tool_use', 'web_search_tool_result', 'web_fetch_tool_result', 'container_upload'],
  ...['code_execution_tool_result', 'bash_code_execution_tool_result', 'text_editor_code_execution_tool_result'],
  ...['tool_search_tool_result', 'mcp_tool_use', 'mcp_tool_result', 'compaction', 'advisor_tool_result'],
  ...['tool_reference', 'tool_addition', 'tool_removal', 'mid_conv_system'],
]);

interface TurnsVerdict {
  readonly faults: string[];
  /** Cache marks on blocks. */
  readonly marks: number;
}

export function judgeMessagesTurns(body: Json): TurnsVerdict {
  const verdict = { faults: [] as string[], marks: 0 };
  const { faults } = verdict;
  const see = (blocks: readonly Json[], where: string, at: string) => {
    if (blocks.length === 0) faults.push(`${at} is empty`);
    for (const block of blocks) {
      if (block.cache_control !== undefined) verdict.marks += 1;
      faults.push(...judgeBlock(block, where).map((fault) => `${at}: ${fault}`));
      if (block.type === 'tool_result' && Array.isArray(block.content)) see(blocksOf(block), 'result', at);
    }
  };
  if (body.system !== undefined) see(blocksOf({ content: body.system }), 'system', 'system');
  const turns = list(body.messages).map((turn) => object(turn) ?? {});
  if (turns[0]?.role !== 'user') faults.push('the first turn is not the user’s');
  for (const [index, turn] of turns.entries()) {
    const at = `messages.${index}`;
    const role = String(turn.role);
    if (!['user', 'assistant', 'system'].includes(role)) faults.push(`${at} has the role ${role}`);
    if (Object.keys(turn).some((name) => name !== 'role' && name !== 'content')) faults.push(`${at} has more members`);
    if (role !== 'system' && turns[index - 1]?.role === role) faults.push(`${at} is a second turn of the ${role}`);
    see(blocksOf(turn), role, at);
    faults.push(...judgePairs(turn, turns[index - 1], turns[index + 1]).map((fault) => `${at}: ${fault}`));
  }
  return verdict;
}

/** The blocks of a content; a string is one text block. */
function blocksOf({ content }: Json): readonly Json[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return list(content).map((block) => object(block) ?? {});
}

/** Each call has one result, at the start of the next turn; each result has its call in the previous turn. */
function judgePairs(turn: Json, before: Json | undefined, after: Json | undefined): string[] {
  const calls = (one: Json | undefined) => ofType(one, 'tool_use').map(({ id }) => String(id));
  const own = calls(turn);
  const faults = new Set(own).size < own.length ? ['two calls of one id'] : [];
  if (own.length > 0) {
    const heads = after === undefined ? [] : blocksOf(after).slice(0, own.length);
    const answered = heads.map(({ type, tool_use_id }) => (type === 'tool_result' ? String(tool_use_id) : '?'));
    if (answered.join() !== own.join()) faults.push(`the calls ${own} are followed by ${answered}`);
  }
  const results = ofType(turn, 'tool_result').length;
  if (results > calls(before).length) faults.push('a result without a call before it');
  return faults;
}

function ofType(turn: Json | undefined, wanted: string): readonly Json[] {
  return turn === undefined ? [] : blocksOf(turn).filter(({ type }) => type === wanted);
}

function judgeBlock(block: Json, where: string): string[] {
  const type = String(block.type);
  if (NATIVE.has(type)) return [];
  const shape = BLOCKS[type];
  if (shape === undefined) return [`a block of type ${type}`];
  const known = new Set([...COMMON, ...shape.members]);
  return [
    ...Object.keys(block).flatMap((name) => (known.has(name) ? [] : [`a ${type} with ${name}`])),
    ...(shape.where.includes(where) ? [] : [`a ${type} in a turn of the ${where}`]),
    ...judgeMark(block.cache_control),
    ...judgeContent(type, block),
  ];
}

function judgeMark(mark: unknown): string[] {
  if (mark === undefined) return [];
  const { type, ttl } = object(mark) ?? {};
  return type === 'ephemeral' && (ttl === undefined || ttl === '5m' || ttl === '1h') ? [] : ['a cache mark'];
}

function judgeContent(type: string, block: Json): string[] {
  const holds = (fault: string, is: boolean) => (is ? [] : [fault]);
  const spoken = (value: unknown) => typeof value === 'string' && value.trim() !== '';
  switch (type) {
    case 'text':
      return holds(`the text ${JSON.stringify(block.text)}`, spoken(block.text));
    case 'tool_use': {
      const named = isLegalName(block.id, NAME_CHARS_MAX) && isLegalName(block.name, NAME_CHARS_MAX);
      return [...holds(`a call ${block.id} of ${block.name}`, named), ...holds('input', object(block.input) !== null)];
    }
    case 'tool_result':
      return [
        ...holds('tool_use_id', isLegalName(block.tool_use_id, NAME_CHARS_MAX)),
        ...holds('is_error', block.is_error === undefined || block.is_error === true),
        ...holds('a result', ['undefined', 'string'].includes(typeof block.content) || Array.isArray(block.content)),
      ];
    case 'thinking':
      return holds('an unsigned thinking', typeof block.thinking === 'string' && spoken(block.signature));
    case 'redacted_thinking':
      return holds('redacted_thinking without data', spoken(block.data));
    case 'image':
      return judgeSource(object(block.source) ?? {}, ['base64', 'url', 'file']);
    default:
      return judgeSource(object(block.source) ?? {}, ['base64', 'url', 'file', 'text']);
  }
}

function judgeSource(source: Json, types: readonly string[]): string[] {
  const { type, media_type, data, url, file_id } = source;
  if (!types.includes(String(type))) return [`a source of type ${type}`];
  if (type === 'url') return /^https?:/.test(String(url)) ? [] : [`the URL ${url}`];
  if (type === 'file') return typeof file_id === 'string' ? [] : ['file_id'];
  if (typeof data !== 'string') return ['a source without data'];
  if (type === 'text') return media_type === 'text/plain' ? [] : [`a text of type ${media_type}`];
  if (types.includes('text')) return media_type === 'application/pdf' ? [] : [`a document of type ${media_type}`];
  const hex = Buffer.from(data.slice(0, 32), 'base64').toString('hex');
  const isTrue = MAGIC.some(([known, bytes]) => known === media_type && bytes.test(hex));
  return isTrue ? [] : [`an image called ${media_type} that begins with ${hex.slice(0, 8)}`];
}
