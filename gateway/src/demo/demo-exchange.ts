/**
 * Answers a call as the demo model: parses it, composes the answer and renders it, all with the codec of the call's
 * protocol, and plays the reply to a listener as an HTTP exchange would. Opens no connection.
 */

import { CallFailure } from '../errors/call-failure.ts';
import type { GenerationEvent } from '../generation/event.ts';
import { type Generation, unfoldGeneration } from '../generation/generation.ts';
import type { GenerationRequest } from '../generation/request.ts';
import { NO_FLAGS, ZERO_USAGE } from '../generation/usage.ts';
import type { AnswerContext, GenerationClient } from '../protocols/client-protocol.ts';
import type { GenerationClientName, GenerationUpstreamName } from '../protocols/names.ts';
import { CLIENT_PROTOCOLS } from '../protocols/registry.ts';
import { refuseMember, startTranslationNotes } from '../protocols/request/translation-notes.ts';
import { estimatePromptTokens } from '../tokens/estimate-tokens.ts';
import { familyOf } from '../tokens/token-families.ts';
import type { ExchangeListener, UpstreamTap } from '../upstream/exchange.ts';
import type { JsonOutline } from '../wire/json-node.ts';
import { scanJson } from '../wire/json-scan.ts';
import { spliceJson } from '../wire/json-splice.ts';
import { composeAnswer, signReasoning } from './compose-answer.ts';
import { readPrompt } from './read-prompt.ts';

/** Starts in a microtask, so that the listener can be connected first. */
export class DemoExchange implements UpstreamTap {
  readonly sentAtMs = performance.now();
  headAtMs = 0;
  lastByteAtMs = 0;
  readonly #listener: ExchangeListener;
  #records: Iterator<DemoRecord> | null = null;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #isOver = false;
  #isPaused = false;

  constructor(call: DemoCall, listener: ExchangeListener) {
    this.#listener = listener;
    queueMicrotask(() => this.#guard(() => this.#begin(call)));
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    // Deferred, because a listener may resume from inside the call that delivers a record.
    queueMicrotask(() => this.#guard(() => this.#play()));
  }

  /** Stops the reply. The listener is not called afterwards. */
  abort(): void {
    this.#isOver = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  #begin(call: DemoCall): void {
    if (this.#isOver) return;
    const { status, contentType, records } = answerDemoCall(call);
    const headers = [['content-type', contentType]] as const;
    this.headAtMs = performance.now();
    this.lastByteAtMs = this.headAtMs;
    this.#listener.onHead({ status, headers, framing: 'close', lengthBytes: 0, keepAlive: false });
    this.#records = records[Symbol.iterator]();
    this.#play();
  }

  /** Delivers records until one has to wait. */
  #play(): void {
    while (this.#records !== null && this.#timer === null && !this.#isPaused && !this.#isOver) {
      const next = this.#records.next();
      if (next.done === true) {
        this.#isOver = true;
        this.#listener.onEnd();
      } else if (next.value.pauseMs === 0) this.#deliver(next.value);
      else this.#timer = setTimeout(() => this.#guard(() => this.#continueWith(next.value)), next.value.pauseMs);
    }
  }

  #continueWith(record: DemoRecord): void {
    this.#timer = null;
    this.#deliver(record);
    this.#play();
  }

  #deliver({ text }: DemoRecord): void {
    this.lastByteAtMs = performance.now();
    this.#listener.onBody(Buffer.from(text));
  }

  /** A bug in the demo ends its call, not the process. */
  #guard(step: () => void): void {
    try {
      step();
    } catch (error) {
      if (this.#isOver) throw error;
      this.#isOver = true;
      this.#listener.onFailure({ kind: 'fault', message: String(error), sent: true, stale: false });
    }
  }
}

/** A call as an upstream would get it. */
interface DemoCall {
  readonly protocol: GenerationUpstreamName & GenerationClientName;
  /** Has passed the gateway's request validation. */
  readonly body: Uint8Array;
  /** `count_tokens` asks for the number of prompt tokens, not for an answer. */
  readonly operation: string;
  /** How many answers the body asks for (`n` of chat completions). */
  readonly answers: number;
  /** `req_…`. The ids of the answer derive from it: the same body and id give the same bytes. */
  readonly requestId: string;
  /** Unix milliseconds. */
  readonly atMs: number;
}

/** A part of the reply, and the delay before it is sent. */
interface DemoRecord {
  readonly text: string;
  readonly pauseMs: number;
}

export interface DemoReply {
  readonly status: number;
  readonly contentType: string;
  /** Generated lazily; can be iterated once only. */
  readonly records: Iterable<DemoRecord>;
}

/** The body has passed the operator's limits; these are above the configurable maximum. */
const SCAN_LIMITS = { depthMax: 1_000, keysPerObjectMax: 1_000_000 };
const ANSWERS_MAX = 8;
/** Before each word: long enough to look like streaming, short enough not to delay anyone. */
const WORD_PAUSE_MS = 15;

/**
 * Synchronous, offline, and a pure function of the call. A body that the protocol or the demo model refuses gets an error
 * body.
 */
export function answerDemoCall(call: DemoCall): DemoReply {
  const protocol = CLIENT_PROTOCOLS[call.protocol];
  try {
    const request = protocol.parseRequest(readOutline(call), startTranslationNotes(false), {
      model: '',
      stream: false,
    });
    const inputTokens = estimatePromptTokens(request, familyOf(request.model));
    // Only the messages format counts tokens.
    if (call.operation === 'count_tokens') return replyJson(200, JSON.stringify({ input_tokens: inputTokens }));
    return answerRequest(call, request, protocol, inputTokens);
  } catch (error) {
    if (!(error instanceof CallFailure)) throw error;
    return replyJson(protocol.statusOf(error), protocol.renderError(error, call.requestId));
  }
}

/** Protocols read requests for one answer; the demo model composes the others itself. */
function readOutline({ body, answers }: DemoCall): JsonOutline {
  const outline = scan(body);
  if (answers === 1) return outline;
  if (answers > ANSWERS_MAX) throw refuseMember('n', `found ${answers}; expected at most ${ANSWERS_MAX}`);
  return scan(spliceJson(outline, [{ remove: ['n'] }]));
}

function scan(body: Uint8Array): JsonOutline {
  const outline = scanJson(body, SCAN_LIMITS);
  if (!outline.ok) throw new Error(`the body of a checked request is not JSON: ${outline.message}`);
  return outline;
}

function answerRequest(
  call: DemoCall,
  request: GenerationRequest,
  protocol: GenerationClient,
  inputTokens: number,
): DemoReply {
  if (request.logprobs !== null)
    throw refuseMember('logprobs', 'the demo model returns no probabilities; leave it out');
  const id = call.requestId.slice('req_'.length);
  const context: AnswerContext = {
    id,
    createdSeconds: Math.floor(call.atMs / 1000),
    model: request.model,
    // The gateway requests the usage chunk in every stream, and withholds it from clients that did not ask for it.
    wantsUsage: true,
    estimatedInputTokens: inputTokens,
    sign: signReasoning,
    seal: (content) => signReasoning(JSON.stringify(content)),
  };
  const prompt = readPrompt(request);
  const composed = Array.from({ length: call.answers }, (_, answer) =>
    composeAnswer(prompt, answer, `call_${id.slice(0, 24)}${answer}`, call.protocol),
  );
  const output = composed.reduce((sum, { outputTokens }) => sum + outputTokens, 0);
  const reasoning = composed.reduce((sum, { reasoningTokens }) => sum + reasoningTokens, 0);
  const usage = { ...ZERO_USAGE, input: inputTokens, output, reasoning };
  const answers = composed.map(({ parts, finish_reason, stop_sequence }, index): Generation => {
    const end = { finish_reason, stop_sequence, reported: null, explanation: null, usageFlags: NO_FLAGS };
    return { id: null, model: request.model, parts, ...end, usage: index === 0 ? usage : null, complete: index === 0 };
  });
  if (!request.stream) return replyJson(200, renderAnswers(protocol, answers, context));
  const contentType = 'text/event-stream; charset=utf-8';
  return { status: 200, contentType, records: streamAnswers(protocol, answers, context) };
}

function renderAnswers(protocol: GenerationClient, answers: readonly Generation[], context: AnswerContext): string {
  const [first = '', ...others] = answers.map((answer) => protocol.renderAnswer(answer, context).json);
  if (others.length === 0) return first;
  const rendered = [first, ...others].map((json) => JSON.parse(json) as { readonly choices: readonly object[] });
  const choices = rendered.flatMap((one, index) => one.choices.map((choice) => ({ ...choice, index })));
  return JSON.stringify({ ...rendered[0], choices });
}

/** The answers alternate, event by event; usage and the end of the first come after all of them. */
function* streamAnswers(
  protocol: GenerationClient,
  answers: readonly Generation[],
  context: AnswerContext,
): Iterable<DemoRecord> {
  const streams = answers.map((answer, index) => ({
    index,
    renderer: protocol.startStreamRenderer(context),
    events: unfoldGeneration(answer).flatMap(splitDelta),
  }));
  const isLast = ({ kind }: GenerationEvent) => kind === 'usage' || kind === 'end';
  const steps = Math.max(...streams.map(({ events }) => events.length));
  for (const ends of [false, true]) {
    for (let step = 0; step < steps; step++) {
      for (const { index, renderer, events } of streams) {
        const event = events[step];
        if (event === undefined || isLast(event) !== ends) continue;
        const text = renderer.push(event).replaceAll('"choices":[{"index":0,', `"choices":[{"index":${index},`);
        if (renderer.violation !== null) throw new Error(`the demo model broke its stream: ${renderer.violation}`);
        const isWord = event.kind === 'text_delta' || event.kind === 'arguments_delta';
        if (text !== '') yield { text, pauseMs: isWord ? WORD_PAUSE_MS : 0 };
      }
    }
  }
}

/** Words (at most 24 characters of one) with their preceding white space, as a model would stream them. */
function splitDelta(event: GenerationEvent): readonly GenerationEvent[] {
  if (event.kind !== 'text_delta' && event.kind !== 'arguments_delta') return [event];
  return (event.text.match(/\s*\S{1,24}|\s+$/gu) ?? []).map((text) => ({ ...event, text }));
}

function replyJson(status: number, text: string): DemoReply {
  return { status, contentType: 'application/json', records: [{ text, pauseMs: 0 }] };
}
