/** Collects an upstream's non-streamed answer or error body within its limits, and reads the facts of an answer. */
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import type { Limits } from '../../config/limits.ts';
import { CallFailure } from '../../errors/call-failure.ts';
import { findError } from '../../protocols/answer/answer-error.ts';
import type { ClientProtocol } from '../../protocols/client-protocol.ts';
import type { RequestFacts } from '../../protocols/request/request-facts.ts';
import type {
  AnswerFacts,
  AnswerReading,
  StreamObserver,
  UpstreamProtocol,
} from '../../protocols/upstream-protocol.ts';
import type { UpstreamFailure } from '../../upstream/connection.ts';
import type { ExchangeListener } from '../../upstream/exchange.ts';
import { codingOf, headerOf, type ResponseHead } from '../../upstream/response-head.ts';
import { children, elements, type JsonNode, jsonText, member, memberName, stringValue } from '../../wire/json-node.ts';
import { startJsonScan } from '../../wire/json-scan.ts';
import { failureOfTransport } from './upstream-outcome.ts';

type AnswerLimits = Pick<Limits, 'errorBodyBytesMax' | 'responseBytesMax' | 'sseRecordBytesMax' | 'slowReaderBytesMax'>;

/** What the limits depend on. */
interface AnsweredCall {
  readonly protocol: Pick<ClientProtocol, 'answersImages'>;
  readonly settings: { readonly config: { readonly limits: Limits } };
  readonly target?: { readonly upstream: { readonly protocols: readonly string[] } } | null;
}

const IMAGE_RECORD_BYTES = 64 * 1024 * 1024;
const IMAGE_ANSWER_BYTES = 512 * 1024 * 1024;

const raised = new WeakMap<Limits, AnswerLimits>();

/**
 * The limits of the answers of a call: images, also within Responses and of Gemini, are larger than texts. Contract, 10.14.
 * One of Gemini's with 4K may have 40 MB: https://github.com/Wei-Shaw/sub2api/pull/874 (2026-03-09).
 */
export function answerLimits({ protocol, settings, target }: AnsweredCall): AnswerLimits {
  const { limits } = settings.config;
  if (protocol.answersImages !== true && target?.upstream.protocols.includes('gemini') !== true) return limits;
  let found = raised.get(limits);
  if (found === undefined) {
    found = {
      ...limits,
      responseBytesMax: Math.max(limits.responseBytesMax, IMAGE_ANSWER_BYTES),
      sseRecordBytesMax: Math.max(limits.sseRecordBytesMax, IMAGE_RECORD_BYTES),
    };
    raised.set(limits, found);
  }
  return found;
}

/** A complete answer. `cut`: an error body exceeded the limit, or cannot be decoded; `body` is its beginning, if any. */
export interface CollectedAnswer {
  readonly head: ResponseHead;
  readonly body: Buffer;
  readonly cut: boolean;
}

export interface CollectLimits {
  readonly errorBodyBytesMax: number;
  readonly responseBytesMax: number;
}

/** Whether it is the text that was asked for; a host may answer in JSON all the same. */
export function isText({ plainText }: Pick<RequestFacts, 'plainText'>, { head, body }: CollectedAnswer): boolean {
  return plainText === true && !/json|html|xml/i.test(headerOf(head, 'content-type') ?? '') && body[0] !== 0x7b;
}

/** Gets the one outcome of a collection. */
export interface AnswerListener {
  /** Nothing more of the answer is needed: its exchange may end. */
  onEnough(): void;
  onAnswer(answer: CollectedAnswer): void;
  onAnswerFailed(failure: CallFailure): void;
}

/** Collects one answer for its listener. */
export class AnswerCollector implements ExchangeListener {
  readonly #limits: CollectLimits;
  readonly #listener: AnswerListener;
  #head: ResponseHead | null = null;
  #chunks: Uint8Array[] = [];
  #bytes = 0;
  #over = false;

  constructor(limits: CollectLimits, listener: AnswerListener) {
    this.#limits = limits;
    this.#listener = listener;
  }

  onHead(head: ResponseHead): void {
    this.#head = head;
    const coding = codingOf(head);
    if (head.status !== 200 || coding === 'identity') return;
    if (!EVENT_STREAM.test(headerOf(head, 'content-type') ?? '')) return;
    this.#over = true;
    this.#listener.onEnough();
    this.#listener.onAnswerFailed(compressedStream(coding));
  }

  onBody(span: Uint8Array): void {
    this.#chunks.push(span);
    this.#bytes += span.length;
    if (this.#head?.status !== 200 && this.#bytes > this.#limits.errorBodyBytesMax) {
      this.#listener.onEnough();
      this.#finish(true);
    }
  }

  onEnd(): void {
    this.#finish(false);
  }

  onFailure(failure: UpstreamFailure): void {
    if (this.#over) return;
    this.#over = true;
    this.#listener.onAnswerFailed(failureOfTransport(failure));
  }

  #finish(cut: boolean): void {
    const head = this.#head;
    if (head === null || this.#over) return;
    this.#over = true;
    const [first] = this.#chunks;
    const body = this.#chunks.length === 1 && first !== undefined ? asBuffer(first) : Buffer.concat(this.#chunks);
    const coding = codingOf(head);
    const isError = head.status !== 200;
    if (coding === 'identity') {
      this.#listener.onAnswer({ head, body, cut });
      return;
    }
    const { errorBodyBytesMax, responseBytesMax } = this.#limits;
    decode(coding, body, isError ? errorBodyBytesMax : responseBytesMax).then(
      (decoded) => this.#listener.onAnswer({ head, body: decoded, cut }),
      (failure: CallFailure) => {
        // An error is judged by its status and headers.
        if (isError) this.#listener.onAnswer({ head, body: Buffer.alloc(0), cut: true });
        else this.#listener.onAnswerFailed(failure);
      },
    );
  }
}

const EVENT_STREAM = /event-?stream/i;

/** A stream that is decoded could not be passed on event by event within its limits. */
function compressedStream(coding: string): CallFailure {
  return new CallFailure(
    'upstream_malformed',
    'the model provider sent a compressed stream, although it was asked for an uncompressed one',
    { cause: `content-encoding: ${coding}` },
  );
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

const DECODERS = new Map([
  ['gzip', promisify(gunzip)],
  ['deflate', promisify(inflate)],
  ['br', promisify(brotliDecompress)],
]);

/** The gateway requests no content coding; a host that compresses anyway is decoded, within the same limit. */
async function decode(coding: string, body: Buffer, bytesMax: number): Promise<Buffer> {
  const decoder = DECODERS.get(coding);
  if (decoder === undefined) {
    throw new CallFailure('upstream_malformed', 'the model provider answered in an unknown content-encoding');
  }
  try {
    return await decoder(body, { maxOutputLength: bytesMax });
  } catch (cause) {
    throw new CallFailure('upstream_malformed', 'the compressed answer of the model provider cannot be read', {
      cause,
    });
  }
}

/**
 * Up to this size a native parse does not block noticeably; larger bodies are scanned in steps and only their facts are
 * parsed.
 */
const PARSED_BYTES_MAX = 1024 * 1024;
const STEP_BYTES = 256 * 1024;
const FACT_BYTES_MAX = 64 * 1024;
const MANY = 1_000_000_000;

/** @returns `malformed` for bytes that are not JSON */
export function readAnswerBody(bytes: Buffer, protocol: UpstreamProtocol): AnswerReading | Promise<AnswerReading> {
  if (bytes.length > PARSED_BYTES_MAX) return readInSteps(bytes, protocol);
  try {
    return readFacts(JSON.parse(bytes.toString('utf8')), bytes.length, protocol);
  } catch {
    return { kind: 'malformed', message: 'the answer is not JSON' };
  }
}

/** Formats of generated answers find errors in their own ways. */
function readFacts(answer: unknown, bodyBytes: number, protocol: UpstreamProtocol): AnswerReading {
  const error = protocol.translates ? null : findError(answer);
  return error === null ? protocol.readAnswer(answer, bodyBytes) : { kind: 'error', ...error };
}

async function readInSteps(bytes: Buffer, protocol: UpstreamProtocol): Promise<AnswerReading> {
  const outlineDepth = protocol.translates ? FACTS_DEPTH : LIST_DEPTH;
  const limits = { depthMax: 512, keysPerObjectMax: MANY, outlineDepth, outlineNodesMax: MANY };
  const scan = startJsonScan(bytes, limits);
  for (;;) {
    const outcome = scan.step(STEP_BYTES);
    if (outcome === 'more') await new Promise<void>((resolve) => setImmediate(resolve));
    else if (!outcome.ok) return { kind: 'malformed', message: outcome.message };
    else if (protocol.translates) return countBytes(protocol.readAnswer(outlineFacts(outcome.root), bytes.length));
    else return readFacts(outlineMembers(outcome.root), bytes.length, protocol);
  }
}

const DESCRIBING = [
  ...['type', 'model', 'stop_reason', 'usage', 'x_groq', 'error', 'usageMetadata', 'modelVersion', 'promptFeedback'],
  ...['id', 'object', 'status', 'incomplete_details', 'service_tier', 'store', 'conversation', 'tool_usage'],
  ...['base_resp', 'container', 'stop_details', 'stopReason', 'serviceTier'],
];
/** As deep as the facts are: within the elements of `candidates` and `choices`, the members of one of their members. */
const FACTS_DEPTH = 5;
/** As deep as the elements of a list, such as the images of an answer, which are counted. */
const LIST_DEPTH = 2;
/** Results of a provider's tools in a message, which name its files. */
const TOOL_RESULT = '_tool_result';

/** Those of the named members that are short. */
function shortMembers(node: JsonNode, names: readonly string[]): { readonly [member: string]: unknown } {
  const members: Record<string, unknown> = {};
  for (const name of names) {
    const found = member(node, name);
    if (found !== undefined && found.end - found.start <= FACT_BYTES_MAX) members[name] = JSON.parse(jsonText(found));
  }
  return members;
}

/** A choice of chat completions without its content, but with what its provider keeps. */
function outlineChoice(choice: JsonNode): object {
  const message = member(choice, 'message');
  const audio = message === undefined ? undefined : member(message, 'audio');
  const kept = audio === undefined ? {} : { message: { audio: shortMembers(audio, ['id', 'expires_at']) } };
  const { finish_reason } = shortMembers(choice, ['finish_reason']);
  return { finish_reason: typeof finish_reason === 'string' ? finish_reason : null, ...kept };
}

/** A candidate of Gemini's without its content. */
function outlineCandidate(candidate: JsonNode): object {
  const grounding = member(candidate, 'groundingMetadata');
  return {
    ...shortMembers(candidate, ['index', 'finishReason']),
    ...(grounding?.kind === 'object' && { groundingMetadata: shortMembers(grounding, ['webSearchQueries']) }),
  };
}

/** The blocks of a message that name files. */
function outlineBlocks(content: JsonNode): readonly object[] {
  return elements(content).flatMap((block) => {
    const { type } = shortMembers(block, ['type']);
    return typeof type === 'string' && type.endsWith(TOOL_RESULT)
      ? [{ type, ...shortMembers(block, ['content']) }]
      : [];
  });
}

/** An item of a response without its content. */
function namesOf(item: JsonNode): object {
  const names = ['type', 'id', 'container_id'].map((name) => [name, member(item, name)] as const);
  return Object.fromEntries(names.flatMap(([name, node]) => (node === undefined ? [] : [[name, stringValue(node)]])));
}

/** The members that describe the answer, without its content; of a list, those of each: the hops of a continued answer. */
function outlineFacts(root: JsonNode): object {
  if (root.kind === 'array') return elements(root).map(outlineFacts);
  const facts: Record<string, unknown> = { ...shortMembers(root, DESCRIBING) };
  const output = member(root, 'output');
  if (output?.kind === 'array') facts.output = elements(output).map(namesOf);
  const said = output?.kind === 'object' ? member(output, 'message') : undefined;
  if (said !== undefined && member(said, 'content')?.kind === 'array') facts.output = { message: { content: [] } };
  const content = member(root, 'content');
  if (content?.kind === 'array') facts.content = outlineBlocks(content);
  const choices = member(root, 'choices');
  if (choices?.kind === 'array') facts.choices = elements(choices).map(outlineChoice);
  const candidates = member(root, 'candidates');
  if (candidates?.kind === 'array') facts.candidates = elements(candidates).map(outlineCandidate);
  return facts;
}

/** The members that are short, a long text too; of a long list, how long it is: a null for each element. */
function outlineMembers(root: JsonNode): object {
  const members: Record<string, unknown> = {};
  for (const node of root.kind === 'object' ? children(root) : []) {
    const bytesMax = node.kind === 'string' ? PARSED_BYTES_MAX : FACT_BYTES_MAX;
    if (node.end - node.start <= bytesMax) members[memberName(node)] = JSON.parse(jsonText(node));
    else if (node.kind === 'array') members[memberName(node)] = elements(node).map(() => null);
  }
  return members;
}

/** If upstream reported no usage or zero output tokens, the size of the whole answer is used as that of its text. */
function countBytes(reading: AnswerReading): AnswerReading {
  if (reading.kind !== 'answer') return reading;
  const { facts } = reading;
  const isCounted = facts.usage !== null && facts.usage.output > 0;
  return isCounted ? reading : { kind: 'answer', facts: { ...facts, outputBytes: facts.outputBytesMax } };
}

/**
 * For a stream, as far as it arrived. Chat hosts may report usage in every chunk: it is final only if the answer had
 * finished.
 */
export function undeliveredStream(observer: Pick<StreamObserver, 'facts' | 'rewrites'>): AnswerFacts {
  const facts = observer.facts();
  const isFinal = observer.rewrites || facts.finish_reason !== null;
  return { ...facts, usage: isFinal ? facts.usage : null, finish_reason: null };
}
