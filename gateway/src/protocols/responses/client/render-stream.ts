/**
 * Renders canonical events as a Responses stream, and whole answers as the response that such a stream ends with. One item
 * is open at a time; the grammar checks every event. Errors are rendered in render-error.ts. Source: specification of the
 * Responses API, F.2 and F.3.
 */
import { CallFailure } from '../../../errors/call-failure.ts';
import { type FinishReason, type GenerationEvent, isCut } from '../../../generation/event.ts';
import { type Generation, unfoldGeneration } from '../../../generation/generation.ts';
import { type Usage, ZERO_USAGE } from '../../../generation/usage.ts';
import { PartSequencer } from '../../answer/sequence-parts.ts';
import type { AnswerContext, StreamRenderer } from '../../client-protocol.ts';
import type { JsonObject } from '../../json.ts';
import type { StreamPosition } from '../../upstream-protocol.ts';
import { type ResponseHead, responseObject } from '../shared/response-object.ts';
import { renderUsage } from '../shared/usage.ts';
import { EventWriter } from '../stream/event-writer.ts';
import { OutputItems } from './output-items.ts';

export function startStreamRenderer(context: AnswerContext): StreamRenderer {
  return new ResponsesStreamRenderer(context);
}

/**
 * The JSON of the answer and its finish reason. Throws if the answer never finished; CallFailure `upstream_malformed` if
 * the arguments of a call are not a JSON object.
 */
export function renderAnswer(
  generation: Generation,
  context: AnswerContext,
): { readonly json: string; readonly finish_reason: string } {
  if (generation.finish_reason === null) throw new Error('an answer that never finished was to be rendered');
  const renderer = new ResponsesStreamRenderer(context);
  for (const event of unfoldGeneration({ ...generation, complete: true })) renderer.push(event);
  const { response, finish_reason, violation } = renderer;
  if (response === null || finish_reason === null)
    throw new CallFailure('upstream_malformed', `the model provider sent an invalid answer: ${violation}`);
  return { json: JSON.stringify(response), finish_reason };
}

/** The records of a response without output, for a request that only prepares the next one. `id`: without prefix. */
export function renderEmptyResponse(id: string, model: string): string {
  const head = { id: `resp_${id}`, createdSeconds: Math.floor(Date.now() / 1_000), model };
  const writer = new EventWriter();
  const response = responseObject(head, 'in_progress', {});
  return (
    writer.write('response.created', { response }) +
    writer.write('response.in_progress', { response }) +
    writer.write('response.completed', {
      response: responseObject(head, 'completed', { usage: renderUsage(ZERO_USAGE) }),
    })
  );
}

/** About four bytes of text are a token. */
const BYTES_PER_TOKEN = 4;
const NO_REASON = 'The model declined to answer.';

class ResponsesStreamRenderer implements StreamRenderer {
  finish_reason: string | null = null;
  violation: string | null = null;
  /** Every record has a number of its own. */
  readonly isUniform = false;
  /** The response of the terminal event; null: it has not come. */
  response: JsonObject | null = null;
  readonly #context: AnswerContext;
  readonly #sequencer = new PartSequencer();
  readonly #writer = new EventWriter();
  readonly #items: OutputItems;
  #head: ResponseHead;
  #usage: Usage | null = null;
  /** The part that began last. */
  #part = -1;

  constructor(context: AnswerContext) {
    this.#context = context;
    this.#items = new OutputItems(this.#writer, context);
    this.#head = this.#headFor(null);
  }

  get position(): StreamPosition | undefined {
    const { nextSequence } = this.#writer;
    return nextSequence === 0 ? undefined : { ...this.#head, nextSequence };
  }

  push(event: GenerationEvent): string {
    if (this.violation !== null) return '';
    let records = '';
    for (const ordered of this.#sequencer.push(event)) records += this.#write(ordered);
    this.violation = this.#sequencer.violation ?? this.#writer.violation;
    return this.violation === null ? records : '';
  }

  /** Never called: no record is like another. */
  skipped(): void {}

  #headFor(model: string | null): ResponseHead {
    const { id, createdSeconds } = this.#context;
    return { id: `resp_${id}`, createdSeconds, model: model ?? this.#context.model };
  }

  #write(event: GenerationEvent): string {
    switch (event.kind) {
      case 'text_delta':
      case 'arguments_delta':
        return this.#items.say(event.text);
      case 'start':
        return this.#start(event.model);
      case 'part_start':
        this.#part = event.part;
        return this.#items.begin(event.opening);
      case 'signature':
        return this.#items.sign(event.signature);
      case 'host_data':
        return event.part === this.#part ? this.#items.attach(event.native) : '';
      case 'citation':
        return this.#items.cite(event.citation);
      case 'usage':
        this.#usage = event.usage;
        return '';
      case 'finish':
        return this.#finish(event.finish_reason, event.explanation);
      case 'end':
        return this.#end();
      default:
        return '';
    }
  }

  #start(model: string | null): string {
    this.#head = this.#headFor(model);
    const response = responseObject(this.#head, 'in_progress', this.#kept);
    return (
      this.#writer.write('response.created', { response }) + this.#writer.write('response.in_progress', { response })
    );
  }

  #finish(reason: FinishReason, explanation: string | null): string {
    const items = this.#items;
    if (reason !== 'refusal') {
      this.finish_reason = isCut(reason) ? 'max_output_tokens' : 'completed';
      return items.close(isCut(reason));
    }
    const wasSilent = items.isSilent;
    this.finish_reason = wasSilent || items.refused ? 'completed' : 'content_filter';
    const closed = items.close(this.finish_reason !== 'completed');
    return wasSilent ? closed + items.write({ kind: 'refusal' }, explanation || NO_REASON) : closed;
  }

  #end(): string {
    const { finish_reason } = this;
    const isComplete = finish_reason === 'completed';
    // A response that ends with its reasoning would have led to nothing.
    const empty = isComplete && this.#items.endsInReasoning ? this.#items.write({ kind: 'text' }, '') : '';
    const usage = renderUsage(this.#usage ?? this.#estimate());
    const status = isComplete ? 'completed' : 'incomplete';
    const incomplete_details = isComplete ? null : { reason: finish_reason };
    const response = responseObject(this.#head, status, {
      ...this.#kept,
      output: this.#items.done,
      usage,
      incomplete_details,
    });
    const last = this.#writer.write(`response.${status}`, { response });
    if (this.#writer.violation === null) {
      this.response = response;
      this.#context.keeping?.end(response);
    }
    return empty + last;
  }

  get #kept(): JsonObject {
    const { keeping } = this.#context;
    return keeping === undefined ? {} : { store: true, previous_response_id: keeping.previous };
  }

  /** Clients need counters, whatever upstream reported. */
  #estimate(): Usage {
    const output = Math.ceil(this.#items.outputBytes / BYTES_PER_TOKEN);
    return { ...ZERO_USAGE, input: this.#context.estimatedInputTokens, output };
  }
}
