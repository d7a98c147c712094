/**
 * Compares the prompts of two requests of one format as a prompt cache sees them: tools, then instructions, then
 * messages. Marks of the cache and the order of members do not count.
 */
import { elements, type JsonNode, jsonText, member, OutlineFull, stringValue } from '../../wire/json-node.ts';
import { startJsonScan } from '../../wire/json-scan.ts';

export const PROMPT_BLOCKS = ['tools', 'system', 'settings', 'history'] as const;
export type PromptBlock = (typeof PROMPT_BLOCKS)[number];

/** The first part of the shorter prompt that differs. */
export interface PromptDifference {
  readonly block: PromptBlock;
  /** Its position, from 0, among the tools, instructions, settings or messages. */
  readonly index: number;
}

/** Other calls run after each step of this many bytes. */
const STEP_BYTES = 256 * 1024;

/**
 * Null: the beginning is the same. `unknown`: one is not a complete JSON body, or continues a conversation that the
 * provider keeps, whose messages are not in it.
 */
export async function comparePrompts(one: Uint8Array, other: Uint8Array): Promise<PromptDifference | null | 'unknown'> {
  const [first, second] = [await scan(one), await scan(other)];
  try {
    const [before, now] = [first && promptOf(first), second && promptOf(second)];
    return before === null || now === null ? 'unknown' : compare(before, now);
  } catch (fault) {
    if (fault instanceof OutlineFull) return 'unknown';
    throw fault;
  }
}

function compare(before: Prompt, now: Prompt): PromptDifference | null {
  for (const block of PROMPT_BLOCKS) {
    const index = firstDifference(before[block], now[block], block !== 'history');
    if (index !== null) return { block, index };
  }
  return null;
}

async function scan(body: Uint8Array): Promise<JsonNode | null> {
  const running = startJsonScan(body);
  let outcome = running.step(STEP_BYTES);
  while (outcome === 'more') {
    await new Promise<void>((resolve) => setImmediate(resolve));
    outcome = running.step(STEP_BYTES);
  }
  return outcome.ok ? outcome.root : null;
}

type Prompt = Readonly<Record<PromptBlock, readonly JsonNode[]>>;

/** Members whose change empties the cache of messages where the format is that of Anthropic. */
const SETTINGS = ['tool_choice', 'thinking'];
const INSTRUCTING: ReadonlySet<string | undefined> = new Set(['system', 'developer']);

function promptOf(root: JsonNode): Prompt | null {
  if (root.kind !== 'object') return null;
  const has = (name: string) => {
    const value = member(root, name);
    return value !== undefined && value.kind !== 'null';
  };
  if (has('previous_response_id') || has('conversation')) return null;
  const listOf = (...names: readonly string[]) => names.flatMap((name) => partsOf(member(root, name)));
  const messages = listOf('messages', 'input', 'contents');
  const instructing = messages.findIndex((message) => !isInstruction(message));
  const leading = instructing === -1 ? messages.length : instructing;
  return {
    tools: listOf('tools'),
    system: [
      ...listOf('system', 'instructions', 'systemInstruction', 'system_instruction'),
      ...messages.slice(0, leading),
    ],
    settings: listOf('system').length > 0 || has('thinking') ? listOf(...SETTINGS) : [],
    history: messages.slice(leading),
  };
}

function partsOf(node: JsonNode | undefined): readonly JsonNode[] {
  if (node === undefined || node.kind === 'null') return [];
  return node.kind === 'array' ? elements(node) : [node];
}

function isInstruction(message: JsonNode): boolean {
  const role = member(message, 'role');
  return role !== undefined && INSTRUCTING.has(stringValue(role));
}

/** `isWhole`: what follows the shorter list differs, too. */
function firstDifference(one: readonly JsonNode[], other: readonly JsonNode[], isWhole: boolean): number | null {
  const shared = Math.min(one.length, other.length);
  for (let index = 0; index < shared; index++) {
    const [before, now] = [one[index], other[index]];
    if (before !== undefined && now !== undefined && !isSame(before, now)) return index;
  }
  return isWhole && one.length !== other.length ? shared : null;
}

function isSame(one: JsonNode, other: JsonNode): boolean {
  const [first, second] = [jsonText(one), jsonText(other)];
  return first === second || canonical(textPart(JSON.parse(first))) === canonical(textPart(JSON.parse(second)));
}

/** A text is the same as a part of text: clients write it as a part to mark it for the cache. */
function textPart(value: unknown): unknown {
  return typeof value === 'string' ? { type: 'text', text: value } : value;
}

/** The same text for values that mean the same. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value)
    .filter(([name]) => name !== 'cache_control')
    .map(([name, own]) => {
      const isText = name === 'content' && typeof own === 'string';
      return `${JSON.stringify(name)}:${canonical(isText ? [textPart(own)] : own)}`;
    });
  return `{${members.sort().join(',')}}`;
}
