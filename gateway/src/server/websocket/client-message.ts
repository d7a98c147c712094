/**
 * Reads the messages of a client on a WebSocket, and makes of a `response.create` the body of the same request by POST.
 * Source: specification of the Responses API, A.3.
 */
import type { Limits } from '../../config/limits.ts';
import { invalidRequest } from '../../errors/call-failure.ts';
import {
  children,
  isNamed,
  type JsonNode,
  type JsonOutline,
  jsonText,
  member,
  memberName,
  stringValue,
} from '../../wire/json-node.ts';
import { startJsonScan } from '../../wire/json-scan.ts';

/** A scan by steps yields to other connections after this many bytes. */
const SCAN_STEP_BYTES = 256 * 1024;

/** A message that is a JSON object with a type. */
export interface ClientMessage {
  readonly type: string;
  readonly outline: JsonOutline;
}

/** Throws CallFailure `invalid_request`. */
export async function readMessage(
  bytes: Buffer,
  { jsonDepthMax, jsonKeysMax }: Pick<Limits, 'jsonDepthMax' | 'jsonKeysMax'>,
): Promise<ClientMessage> {
  const scan = startJsonScan(bytes, { depthMax: jsonDepthMax, keysPerObjectMax: jsonKeysMax });
  let outcome = scan.step(SCAN_STEP_BYTES);
  while (outcome === 'more') {
    await new Promise<void>((resolve) => setImmediate(resolve));
    outcome = scan.step(SCAN_STEP_BYTES);
  }
  if (!outcome.ok) throw invalidRequest(`the message is not JSON that this gateway takes: ${outcome.message}`);
  const { root } = outcome;
  if (root.kind !== 'object') throw invalidRequest(`the message is ${root.kind}; expected a JSON object`);
  const type = textOf(root, 'type');
  if (type === null) throw invalidRequest('the message has no type; expected "response.create"', 'type');
  return { type, outline: outcome };
}

/** A string member; null: it is absent or no string. */
export function textOf(root: JsonNode, name: string): string | null {
  const found = member(root, name);
  return (found === undefined ? undefined : stringValue(found)) ?? null;
}

/** Whether a `response.create` asks for a response, not only for its preparation. */
export function generates({ root }: JsonOutline): boolean {
  return member(root, 'generate')?.kind !== 'false';
}

/** Members of the message that the request does not have. */
const MESSAGE_MEMBERS = new Set(['type', 'generate', 'stream', 'stream_id']);

/**
 * The body of the request, in new memory. `before`: the items of the conversation so far, which go before those of the
 * message in place of `previous_response_id`; null: that member, if there is one, stays.
 */
export function renderBody({ bytes, root }: JsonOutline, before: readonly Buffer[] | null): Buffer {
  const pieces: Uint8Array[] = [];
  let separator = '{';
  const add = (...texts: readonly Uint8Array[]) => {
    pieces.push(Buffer.from(separator), ...texts);
    separator = ',';
  };
  let hasInput = false;
  for (const node of children(root)) {
    const name = memberName(node);
    const isInput = isNamed(node, 'input');
    hasInput ||= isInput;
    if (MESSAGE_MEMBERS.has(name) || (before !== null && name === 'previous_response_id')) continue;
    if (isInput && before !== null) add(...inputMember(before, node));
    else add(Buffer.from(bytes.buffer, bytes.byteOffset + node.keyStart, node.end - node.keyStart));
  }
  if (!hasInput && before !== null) add(...inputMember(before, undefined));
  add(Buffer.from('"stream":true}'));
  return Buffer.concat(pieces);
}

const COMMA = Buffer.from(',');

function inputMember(before: readonly Buffer[], input: JsonNode | undefined): Uint8Array[] {
  const pieces: Uint8Array[] = [Buffer.from('"input":[')];
  for (const items of [...before, itemsOf(input)]) {
    if (items.length === 0) continue;
    if (pieces.length > 1) pieces.push(COMMA);
    pieces.push(items);
  }
  pieces.push(Buffer.from(']'));
  // Only the format's own check says what else the input may not be.
  return input === undefined || input.kind === 'array' || input.kind === 'string' || input.kind === 'null'
    ? pieces
    : [Buffer.from(`"input":${jsonText(input)}`)];
}

/** The items of an input, comma-separated, as they were sent; those of a string: one user message. */
function itemsOf(input: JsonNode | undefined): Buffer {
  if (input?.kind === 'string') return Buffer.from(`{"role":"user","content":${jsonText(input)}}`);
  if (input?.kind !== 'array') return Buffer.alloc(0);
  const { bytes } = input.outline;
  let start = input.start + 1;
  let end = input.end - 1;
  while (start < end && isSpace(bytes[start])) start++;
  while (start < end && isSpace(bytes[end - 1])) end--;
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start);
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** One turn of a conversation as one text of its own: the items of the message, then those of the response. */
export function joinTurn({ root }: JsonOutline, output: readonly Buffer[]): Buffer {
  const items = [itemsOf(member(root, 'input')), ...output].filter(({ length }) => length > 0);
  const byteCount = items.reduce((sum, { length }) => sum + length + 1, 0);
  if (byteCount === 0) return Buffer.alloc(0);
  // Not from the shared pool: a slice of the pool would keep its neighbors alive.
  const turn = Buffer.allocUnsafeSlow(byteCount - 1);
  let at = 0;
  for (const item of items) {
    if (at > 0) turn[at++] = 0x2c;
    turn.set(item, at);
    at += item.length;
  }
  return turn;
}
