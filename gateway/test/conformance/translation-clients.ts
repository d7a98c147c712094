/**
 * Owns the official clients as the far end of a translation: they send a request that was written for their format, and put
 * together the answer that was written for them. What they should have found is the suites' to say.
 */
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import type { ProtocolName } from '../../src/protocols/protocol.ts';
import { type Json, list, object, words } from './wire-text.ts';

/** What is given to a client: JSON of its request, and the bytes of its answer. */
export interface ClientCall {
  readonly request: string;
  readonly answer: string;
  readonly streamed: boolean;
}

/** What a client sent, and what it made of the answer. */
export interface ClientReading {
  readonly sent: Json;
  /** The accumulated answer, as the client's own helper gives it. */
  readonly answer: Json;
  /** What helpers do not put together: reasoning (chat), and arguments as they were written (messages), by index of the block. */
  readonly reasoning: string;
  readonly inputs: ReadonlyMap<number, string>;
}

export async function readByClient(format: ProtocolName, call: ClientCall): Promise<ClientReading> {
  const wire = new OneAnswer(call);
  return format === 'chat' ? readByOpenAi(call, wire) : readByAnthropic(call, wire);
}

/** A network that takes one request and gives one answer. */
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

/** Longer than any call without a stream would take: without it the client refuses many tokens. */
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

/** Inputs of calls in an answer in one piece, as they were written: found by the only text that parses to the same value. */
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

/** Behind the first closing bracket that makes the text from `start` on a JSON value. */
function endOfValue(text: string, start: number): number {
  for (let end = text.indexOf('}', start); end !== -1; end = text.indexOf('}', end + 1)) {
    try {
      JSON.parse(text.slice(start, end + 1));
      return end + 1;
    } catch {
      // The bracket closes an inner object, or stands in a text.
    }
  }
  throw new Error('a value without an end');
}
