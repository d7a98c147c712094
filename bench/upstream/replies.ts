/** Owns the bytes that the bench's upstream answers with, rendered once at start. Decides nothing. */

/** Events of a timed stream, the role's and the finish reason's included; `[DONE]` and a usage chunk come on top. */
export const STREAM_EVENTS = 100;

const HEAD_STREAM =
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ncache-control: no-cache\r\n' +
  'x-request-id: req_bench\r\ntransfer-encoding: chunked\r\n\r\n';

/** What every answer says it used. */
export const USAGE = {
  prompt_tokens: 24,
  completion_tokens: 99,
  total_tokens: 123,
  prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0, accepted_prediction_tokens: 0 },
};
const ANSWER =
  'A toll gate counts every cart that passes, asks for the coin that the board names, and writes both into a book. ' +
  'At night the keeper adds the coins and the lines up; where they differ, one of the two is wrong, and the book says which.';

/** A complete JSON response: head and body. */
function renderJson(status: string, body: unknown): Buffer {
  const text = JSON.stringify(body);
  return Buffer.from(
    `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\nx-request-id: req_bench\r\n` +
      `content-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
  );
}

function renderChunk(text: string): Buffer {
  return Buffer.from(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`);
}

function renderEvent(choices: readonly unknown[], usage?: typeof USAGE): Buffer {
  const chunk = {
    id: 'chatcmpl-bench',
    object: 'chat.completion.chunk',
    created: 1_790_000_000,
    model: 'bench-upstream-2026-11',
    system_fingerprint: 'fp_bench',
    choices,
    ...(usage === undefined ? {} : { usage }),
  };
  return renderChunk(`data: ${JSON.stringify(chunk)}\n\n`);
}

function renderDelta(delta: object, finish_reason: string | null): Buffer {
  return renderEvent([{ index: 0, delta, logprobs: null, finish_reason }]);
}

const ROLE_EVENT = renderDelta({ role: 'assistant', content: '', refusal: null }, null);
const STOP_EVENT = renderDelta({}, 'stop');
const WORDS = ANSWER.split(' ');

/** The head of each stream. */
export const STREAM_HEAD: Buffer = Buffer.from(HEAD_STREAM);

/** One ordinary content event, in its chunk. */
export const TEXT_EVENT: Buffer = renderDelta({ content: ' toll' }, null);

/** The `STREAM_EVENTS` events of a timed stream, each in its chunk. */
export const EVENTS: readonly Buffer[] = [
  ROLE_EVENT,
  ...Array.from({ length: STREAM_EVENTS - 2 }, (_, at) =>
    renderDelta({ content: ` ${WORDS[at % WORDS.length]}` }, null),
  ),
  STOP_EVENT,
];

const DONE = Buffer.concat([renderChunk('data: [DONE]\n\n'), Buffer.from('0\r\n\r\n')]);
const USAGE_AND_DONE = Buffer.concat([renderEvent([], USAGE), DONE]);

/** What ends a stream after its events: the usage chunk where it was asked for, `[DONE]`, the last chunk. */
export function streamTail(withUsage: boolean): Buffer {
  return withUsage ? USAGE_AND_DONE : DONE;
}

const BURST = Buffer.concat([STREAM_HEAD, ...EVENTS, DONE]);
const BURST_WITH_USAGE = Buffer.concat([STREAM_HEAD, ...EVENTS, USAGE_AND_DONE]);

/** A whole stream, to be written at once. */
export function burst(withUsage: boolean): Buffer {
  return withUsage ? BURST_WITH_USAGE : BURST;
}

/** The answer to a call that does not stream; its body is about 700 bytes. */
export const PLAIN: Buffer = renderJson('200 OK', {
  id: 'chatcmpl-bench',
  object: 'chat.completion',
  created: 1_790_000_000,
  model: 'bench-upstream-2026-11',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: ANSWER, refusal: null, annotations: [] },
      logprobs: null,
      finish_reason: 'stop',
    },
  ],
  usage: USAGE,
  service_tier: 'default',
  system_fingerprint: 'fp_bench',
});

/** About 16 KB of events: the unit of an endless stream. */
export const ENDLESS_BLOCK: Buffer = Buffer.concat(
  Array.from({ length: Math.ceil(16_384 / TEXT_EVENT.length) }, () => TEXT_EVENT),
);

/** The refusal of a request that the bench does not know; the message says what it knows. */
export function renderRefusal(message: string): Buffer {
  return renderJson('400 Bad Request', {
    error: { message, type: 'invalid_request_error', param: 'model', code: null },
  });
}
