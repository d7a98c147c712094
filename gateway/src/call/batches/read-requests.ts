/**
 * Reads the requests of a batch one by one: from the lines of an input file, as at OpenAI, or from the body that creates
 * it, as at Anthropic.
 */
import type { BodyShare } from '../../admission/capacity.ts';
import type { Limits } from '../../config/limits.ts';
import { invalidRequest } from '../../errors/call-failure.ts';
import { Pace } from '../../lib/turns.ts';
import { refuse } from '../../protocols/request/request-facts.ts';
import { type JsonLine, LineTooLong, TooManyLines } from '../../wire/json-lines.ts';
import { elements, type JsonNode, type JsonOutline, member, OutlineFull, stringValue } from '../../wire/json-node.ts';
import { countBytes, scanBySteps } from '../request/read-body.ts';
import { type BatchCheck, failureOfRequest } from './check-batch.ts';

/** The limits of OpenAI, and of Anthropic for requests in one body. */
export const INPUT_BYTES_MAX = 200 * 1024 * 1024;
const LINES_MAX = 50_000;
/** Of an input file, with blank lines: of those there may be as many. */
export const INPUT_LINES_MAX = 2 * LINES_MAX;
const INLINE_MAX = 100_000;
const ID_CHARS_MAX = 512;

/** One request where it stands; `read` throws CallFailure. */
interface FoundRequest {
  /** `line 3`, `requests.2`. */
  readonly place: string;
  readonly customId: string | null;
  readonly length: number;
  read(): Uint8Array;
}

/** Checks the lines of an input file. `url`: the endpoint of the batch. Throws CallFailure that names the first wrong line. */
export async function checkLines(lines: AsyncIterable<JsonLine>, url: string, check: BatchCheck): Promise<void> {
  try {
    await checkAll(requestsOfLines(lines, url, check), LINES_MAX, check);
  } catch (error) {
    if (error instanceof TooManyLines) throw invalidRequest(`the file has ${error.message}; leave blank ones out`);
    if (!(error instanceof LineTooLong)) throw error;
    throw invalidRequest(`line ${error.number}: is longer than the body of one request may be; send less in it`);
  }
}

/** Counts the longest of the lines as part of the body: one line at a time is in memory. Throws CallFailure. */
export async function* countLongest(
  lines: AsyncIterable<JsonLine>,
  share: BodyShare,
  limits: Limits,
): AsyncGenerator<JsonLine> {
  let longest = 0;
  for await (const line of lines) {
    const { length } = line.bytes;
    if (length > longest) countBytes(length - longest, share, limits);
    longest = Math.max(longest, length);
    yield line;
  }
}

/** Checks the `requests` of a body. Throws CallFailure that names the first wrong one. */
export async function checkInline(outline: JsonOutline, check: BatchCheck): Promise<void> {
  const requests = member(outline.root, 'requests');
  if (requests?.kind !== 'array') throw refuse('requests', requests ?? null, 'an array of {"custom_id", "params"}');
  try {
    await checkAll(elements(requests).map(requestOfElement), INLINE_MAX, check);
  } catch (error) {
    if (!(error instanceof OutlineFull)) throw error;
    throw invalidRequest(`requests: cannot be checked: ${error.message}`, 'requests');
  }
}

async function checkAll(
  requests: AsyncIterable<FoundRequest> | Iterable<FoundRequest>,
  most: number,
  check: BatchCheck,
): Promise<void> {
  const pace = new Pace();
  for await (const { place, customId, length, read } of requests) {
    if (check.requests === most) throw invalidRequest(`${place}: a batch has at most ${most} requests; make several`);
    try {
      if (customId === null) throw refuse('custom_id', null, `a string of 1 to ${ID_CHARS_MAX} characters`);
      await check.add(read());
    } catch (error) {
      throw failureOfRequest(error, place, customId);
    }
    await pace.step(length);
  }
  if (check.requests === 0) throw invalidRequest('the batch has no requests');
}

async function* requestsOfLines(
  lines: AsyncIterable<JsonLine>,
  url: string,
  { limits }: Pick<BatchCheck, 'limits'>,
): AsyncGenerator<FoundRequest> {
  // The body is one level below.
  const most = { depthMax: limits.jsonDepthMax + 1, keysPerObjectMax: limits.jsonKeysMax };
  for await (const { number, bytes } of lines) {
    const place = `line ${number}`;
    const line = await scanBySteps(bytes, most);
    if (!line.ok) throw invalidRequest(`${place}: is not JSON that this gateway takes: ${line.message}`);
    const { root } = line;
    if (root.kind !== 'object')
      throw invalidRequest(`${place}: is no object; expected {"custom_id", "method", "url", "body"}`);
    const read = () => {
      const method = member(root, 'method');
      if (textOf(method) !== 'POST') throw refuse('method', method ?? null, '"POST"');
      const path = member(root, 'url');
      if (textOf(path) !== url) throw refuse('url', path ?? null, `the endpoint of the batch, ${JSON.stringify(url)}`);
      return bytesOf(member(root, 'body'), 'body');
    };
    yield { place, customId: customIdOf(root), length: bytes.length, read };
  }
}

function requestOfElement(node: JsonNode, index: number): FoundRequest {
  return {
    place: `requests.${index}`,
    customId: node.kind === 'object' ? customIdOf(node) : null,
    length: node.end - node.start,
    read: () => bytesOf(member(node, 'params'), 'params'),
  };
}

function bytesOf(node: JsonNode | undefined, name: string): Uint8Array {
  if (node?.kind !== 'object') throw refuse(name, node ?? null, 'the body of a request, an object');
  return node.outline.bytes.subarray(node.start, node.end);
}

/** Null: it has none, or one that nothing can be found by. */
function customIdOf(node: JsonNode): string | null {
  const id = textOf(member(node, 'custom_id')) ?? '';
  return id === '' || id.length > ID_CHARS_MAX ? null : id;
}

function textOf(node: JsonNode | undefined): string | undefined {
  return node === undefined ? undefined : stringValue(node);
}
