/**
 * Runs an upstream with one stream at a time that advances only when the test says so: a paced fake cannot guarantee
 * that.
 */

/** One call that has arrived; it streams until `finish` or until the gateway disconnects. */
export interface GatedCall {
  /** The parsed request body. */
  readonly body: unknown;
  /** Sends that many more words of four bytes, each `tok `. */
  say(words: number): void;
  /** Sends that many tokens by our estimate, four bytes each, in one event. */
  blurt(tokens: number): void;
  /** Sends that many words and ends well, all in one write; usage reports as many tokens. */
  pour(words: number): void;
  /** Ends the stream well; usage reports `outputTokens`. */
  finish(outputTokens: number): void;
  /** Breaks the stream off before its end. */
  breakOff(): void;
  /** Resolves once the gateway has disconnected. */
  readonly left: Promise<void>;
}

export interface GatedUpstream {
  readonly url: string;
  /** Returns the next call: one that has arrived and was not returned yet, or the next to arrive. */
  next(): Promise<GatedCall>;
  stop(): Promise<void>;
}

const WORD = 'tok ';
const INPUT_TOKENS = 11;

interface Speaker {
  readonly begin: string;
  word(text: string): string;
  end(outputTokens: number): string;
}

const chunk = (choices: object[], usage: object | null = null) =>
  `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm', choices, usage })}\n\n`;
const event = (type: string, members: object = {}) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;

const CHAT: Speaker = {
  begin: chunk([{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }]),
  word: (content) => chunk([{ index: 0, delta: { content }, finish_reason: null }]),
  end: (completion_tokens) =>
    chunk([{ index: 0, delta: {}, finish_reason: 'stop' }]) +
    chunk([], { prompt_tokens: INPUT_TOKENS, completion_tokens, total_tokens: INPUT_TOKENS + completion_tokens }) +
    'data: [DONE]\n\n',
};

const MESSAGES: Speaker = {
  begin:
    event('message_start', {
      message: {
        id: 'm1',
        type: 'message',
        role: 'assistant',
        model: 'm',
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: INPUT_TOKENS, output_tokens: 1 },
      },
    }) + event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
  word: (text) => event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } }),
  end: (output_tokens) =>
    event('content_block_stop', { index: 0 }) +
    event('message_delta', { delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens } }) +
    event('message_stop'),
};

/** Starts the upstream on a free port of 127.0.0.1; the request path selects the format. */
export function startGatedUpstream(): GatedUpstream {
  const arrived: GatedCall[] = [];
  const waiting: ((call: GatedCall) => void)[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    async fetch(request) {
      const speaker = new URL(request.url).pathname.endsWith('/messages') ? MESSAGES : CHAT;
      const sentBody: unknown = await request.json();
      const left = Promise.withResolvers<void>();
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          const send = (text: string) => controller.enqueue(new TextEncoder().encode(text));
          send(speaker.begin);
          const call: GatedCall = {
            body: sentBody,
            say: (words) => send(speaker.word(WORD).repeat(words)),
            blurt: (tokens) => send(speaker.word('blurt...'.repeat(Math.ceil(tokens / 2)))),
            pour(words) {
              send(speaker.word(WORD).repeat(words) + speaker.end(words));
              controller.close();
            },
            finish(outputTokens) {
              send(speaker.end(outputTokens));
              controller.close();
            },
            breakOff: () => controller.close(),
            left: left.promise,
          };
          const next = waiting.shift();
          if (next === undefined) arrived.push(call);
          else next(call);
        },
        cancel: () => left.resolve(),
      });
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    next() {
      const call = arrived.shift();
      return call === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(call);
    },
    stop: () => server.stop(true),
  };
}
