/**
 * Runs the official clients at the far end of a translation: they send a request translated to their format and
 * assemble the translated answer. The suites hold the expectations.
 */
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { type Json, list, object, words } from '../wire-text.ts';
import type { Format } from './format.ts';

/** Input of a client: its request as JSON, and the bytes of its answer. */
export interface ClientCall {
  readonly request: string;
  readonly answer: string;
  readonly streamed: boolean;
}

/** What a client sent, and how it parsed the answer. */
export interface ClientReading {
  readonly sent: Json;
  /** The accumulated answer, as returned by the client's own helper. */
  readonly answer: Json;
  /** What helpers do not assemble: reasoning (chat), and raw tool arguments (messages) by block index. */
  readonly reasoning: string;
  readonly inputs: ReadonlyMap<number, string>;
}

export async function readByClient(format: Format, call: ClientCall): Promise<ClientReading> {
  const wire = new OneAnswer(call);
  return format === 'chat' ? readByOpenAi(call, wire) : readByAnthropic(call, wire);
}

/** A network that accepts one request and returns one answer. */
class OneAnswer {
  readonly #call: ClientCall;
  sent: Json = {};

  constructor(call: ClientCall) {
    this.#call = call;
  }

  readonly fetch = async (_: unknown, init?: { readonly body?: unknown }): Promise<Response> => {
    this.sent = JSON.parse(String(init?.body));
    const type = this.#call.streamed ? 'text/event-stream' : 'application/json';
    return new Response(this.#call.answer, { headers: { 'content-type': type } });
  };
}

async function readByOpenAi({ request, streamed }: ClientCall, wire: OneAnswer): Promise<ClientReading> {
  const client = new OpenAI({ apiKey: 'none', baseURL: 'http://gateway.invalid/v1', maxRetries: 0, fetch: wire.fetch });
  let reasoning = '';
  const inputs = new Map<number, string>();
  if (!streamed) {
    const completion = await client.chat.completions.create({ ...JSON.parse(request), stream: false });
    const answer = object(completion) ?? {};
    reasoning = words(object(object(list(answer.choices)[0])?.message)?.reasoning_content) ?? '';
    return { sent: wire.sent, answer, reasoning, inputs };
  }
  const stream = client.chat.completions.stream(JSON.parse(request));
  stream.on('chunk', (chunk) => {
    reasoning += words(object(chunk.choices[0]?.delta)?.reasoning_content) ?? '';
  });
  const completion = await stream.finalChatCompletion();
  return { sent: wire.sent, answer: object(completion) ?? {}, reasoning, inputs };
}

/** Longer than any plain call would take: without it the client refuses a large `max_tokens`. */
const PATIENCE = { timeout: 600_000 };

async function readByAnthropic({ request, answer, streamed }: ClientCall, wire: OneAnswer): Promise<ClientReading> {
  const client = new Anthropic({
    apiKey: 'none',
    baseURL: 'http://gateway.invalid',
    maxRetries: 0,
    logLevel: 'off',
    fetch: wire.fetch,
  });
  const inputs = new Map<number, string>();
  if (!streamed) {
    const message = await client.messages.create({ ...JSON.parse(request), stream: false }, PATIENCE);
    return { sent: wire.sent, answer: object(message) ?? {}, reasoning: '', inputs: inputsIn(answer) };
  }
  const stream = client.messages.stream(JSON.parse(request), PATIENCE);
  stream.on('streamEvent', (event) => {
    if (event.type !== 'content_block_delta' || event.delta.type !== 'input_json_delta') return;
    inputs.set(event.index, (inputs.get(event.index) ?? '') + event.delta.partial_json);
  });
  const message = await stream.finalMessage();
  return { sent: wire.sent, answer: object(message) ?? {}, reasoning: '', inputs };
}

/** Raw inputs of tool calls in an answer in one piece: found as the only text that parses to the same value. */
function inputsIn(answer: string): Map<number, string> {
  const inputs = new Map<number, string>();
  let from = 0;
  for (const [index, block] of list(object(JSON.parse(answer))?.content).entries()) {
    const { type, id, name } = object(block) ?? {};
    if (type !== 'tool_use') continue;
    const head = `{"type":"tool_use","id":${JSON.stringify(id)},"name":${JSON.stringify(name)},"input":`;
    const start = answer.indexOf(head, from) + head.length;
    if (start < head.length) throw new Error(`the call ${id} is not written as expected`);
    from = endOfValue(answer, start);
    inputs.set(index, answer.slice(start, from));
  }
  return inputs;
}

/** Returns the index after the first closing bracket at which the text from `start` is a JSON value. */
function endOfValue(text: string, start: number): number {
  for (let end = text.indexOf('}', start); end !== -1; end = text.indexOf('}', end + 1)) {
    try {
      JSON.parse(text.slice(start, end + 1));
      return end + 1;
    } catch {
      // The bracket closes an inner object or is inside a string.
    }
  }
  throw new Error('a value without an end');
}
