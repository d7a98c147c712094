/**
 * Runs upstreams that honor output limits or ignore them: the model's name selects the member they read. Speaks both
 * formats, plain and streamed, and counts the tokens it generates.
 */

/**
 * The members each host reads as the output limit. `deaf` reads none; `lone` reads none and always answers in one
 * piece.
 */
const HOSTS = {
  older: ['max_tokens'],
  newer: ['max_completion_tokens'],
  /** As in llama.cpp and vLLM: the newer member first. */
  either: ['max_completion_tokens', 'max_tokens'],
  deaf: [],
  lone: [],
  /** Refuses to stream, and honors the members it knows. */
  unstreamed: ['max_tokens'],
} as const;

/** Tokens of an answer without a limit. */
export const NATURAL_TOKENS = 20_000;
const INPUT_TOKENS = 11;
const WORD = 'tok ';
/** Words per event. */
const EVENT_WORDS = 16;

export interface AskedOfHost {
  readonly model: string;
  readonly stream?: boolean;
  readonly n?: number;
  readonly max_tokens?: number | null;
  readonly max_completion_tokens?: number | null;
}

export interface LimitHosts {
  readonly url: string;
  /** Returns the request bodies received for a model, as text, in order. */
  askedOf(model: string): string[];
  stop(): Promise<void>;
}

interface Answer {
  readonly model: string;
  readonly answers: number;
  /** Per answer. */
  readonly tokens: number;
  readonly isCut: boolean;
}

/** Starts the hosts on a free port of 127.0.0.1. Models are named `HOST` or `HOST-anything`. */
export function startLimitHosts(): LimitHosts {
  const bodies = new Map<string, string[]>();
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    async fetch(request) {
      const text = await request.text();
      const body = JSON.parse(text) as AskedOfHost;
      bodies.set(body.model, [...(bodies.get(body.model) ?? []), text]);
      const speaker = new URL(request.url).pathname.endsWith('/messages') ? MESSAGES : CHAT;
      const host = body.model.split('-')[0] as keyof typeof HOSTS;
      if (host === 'unstreamed' && body.stream === true) {
        const message = "'stream' does not support true with this model.";
        return Response.json({ type: 'error', error: { message, type: 'invalid_request_error' } }, { status: 400 });
      }
      const limit = HOSTS[host].map((member) => body[member]).find((given) => typeof given === 'number');
      const tokens = Math.min(limit ?? NATURAL_TOKENS, NATURAL_TOKENS);
      const answer = { model: body.model, answers: body.n ?? 1, tokens, isCut: tokens < NATURAL_TOKENS };
      if (body.stream !== true || host === 'lone') return Response.json(speaker.whole(answer));
      return new Response(streamOf(speaker.events(answer)), { headers: { 'content-type': 'text/event-stream' } });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    askedOf: (model) => bodies.get(model) ?? [],
    stop: () => server.stop(true),
  };
}

/** Generates an event only when one is read. */
function streamOf(events: Generator<string>): ReadableStream<Uint8Array> {
  return new ReadableStream({
    pull(controller) {
      const next = events.next();
      if (next.done) controller.close();
      else controller.enqueue(Buffer.from(next.value));
    },
  });
}

interface Speaker {
  whole(answer: Answer): object;
  events(answer: Answer): Generator<string>;
}

function* textsOf({ tokens }: Answer): Generator<string> {
  for (let left = tokens; left > 0; left -= EVENT_WORDS) yield WORD.repeat(Math.min(left, EVENT_WORDS));
}

const indexes = ({ answers }: Answer) => Array.from({ length: answers }, (_, index) => index);
const chatUsage = ({ answers, tokens }: Answer) => ({
  prompt_tokens: INPUT_TOKENS,
  completion_tokens: answers * tokens,
  total_tokens: INPUT_TOKENS + answers * tokens,
});
const chunk = ({ model }: Answer, choices: object[], usage: object | null = null) =>
  `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', created: 1, model, choices, usage })}\n\n`;
const event = (type: string, members: object = {}) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;

const CHAT: Speaker = {
  whole: (answer) => ({
    id: 'c1',
    object: 'chat.completion',
    created: 1,
    model: answer.model,
    choices: indexes(answer).map((index) => ({
      index,
      message: { role: 'assistant', content: WORD.repeat(answer.tokens) },
      finish_reason: answer.isCut ? 'length' : 'stop',
    })),
    usage: chatUsage(answer),
  }),
  *events(answer) {
    for (const index of indexes(answer)) {
      yield chunk(answer, [{ index, delta: { role: 'assistant', content: '' }, finish_reason: null }]);
    }
    for (const content of textsOf(answer)) {
      for (const index of indexes(answer)) yield chunk(answer, [{ index, delta: { content }, finish_reason: null }]);
    }
    const finish_reason = answer.isCut ? 'length' : 'stop';
    for (const index of indexes(answer)) yield chunk(answer, [{ index, delta: {}, finish_reason }]);
    yield `${chunk(answer, [], chatUsage(answer))}data: [DONE]\n\n`;
  },
};

const message = ({ model }: Answer) => ({ id: 'm1', type: 'message', role: 'assistant', model, stop_sequence: null });

const MESSAGES: Speaker = {
  whole: (answer) => ({
    ...message(answer),
    content: [{ type: 'text', text: WORD.repeat(answer.tokens) }],
    stop_reason: answer.isCut ? 'max_tokens' : 'end_turn',
    usage: { input_tokens: INPUT_TOKENS, output_tokens: answer.tokens },
  }),
  *events(answer) {
    const usage = { input_tokens: INPUT_TOKENS, output_tokens: 1 };
    yield event('message_start', { message: { ...message(answer), content: [], stop_reason: null, usage } });
    yield event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } });
    for (const text of textsOf(answer)) {
      yield event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } });
    }
    yield event('content_block_stop', { index: 0 });
    const delta = { stop_reason: answer.isCut ? 'max_tokens' : 'end_turn', stop_sequence: null };
    yield event('message_delta', { delta, usage: { output_tokens: answer.tokens } });
    yield event('message_stop');
  },
};
