/**
 * Renders the upstream's answers in Anthropic's messages format. A timed stream has as many writes as a chat stream:
 * the framing events share the first and last writes, so that both cost a gateway the same number of reads.
 */
import { ANSWER, ENDLESS_PIECE, TEXT_PIECES, USED } from './answer-content.ts';
import { renderChunk } from './render-http.ts';
import { assembleReplies, type Replies } from './replies.ts';

const MESSAGE = {
  id: 'msg_bench',
  type: 'message',
  role: 'assistant',
  model: 'bench-upstream-2026-11',
};

const INPUT_USAGE = {
  input_tokens: USED.input,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
};

function renderUsage(output_tokens: number): object {
  const cache_creation = { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 };
  return { ...INPUT_USAGE, cache_creation, output_tokens, service_tier: 'standard' };
}

function renderEvent(type: string, members: object): Buffer {
  return renderChunk(`event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`);
}

function renderText(text: string): Buffer {
  return renderEvent('content_block_delta', { index: 0, delta: { type: 'text_delta', text } });
}

const BEGINNING = Buffer.concat([
  renderEvent('message_start', {
    message: { ...MESSAGE, content: [], stop_reason: null, stop_sequence: null, usage: renderUsage(1) },
  }),
  renderEvent('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
]);

function renderEnding(stop_reason: string, output_tokens: number): Buffer {
  return Buffer.concat([
    renderEvent('content_block_stop', { index: 0 }),
    renderEvent('message_delta', {
      delta: { stop_reason, stop_sequence: null },
      usage: { ...INPUT_USAGE, output_tokens },
    }),
    renderEvent('message_stop', {}),
  ]);
}

const NOTHING = Buffer.alloc(0);

/** A messages stream always reports its usage, so it ends the same way whether or not the client asked for it. */
export const MESSAGES_REPLIES: Replies = assembleReplies({
  plainBody: {
    ...MESSAGE,
    content: [{ type: 'text', text: ANSWER }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    stop_details: null,
    container: null,
    usage: renderUsage(USED.output),
  },
  writes: [BEGINNING, ...TEXT_PIECES.map(renderText), renderEnding('end_turn', USED.output)],
  textEvent: renderText(ENDLESS_PIECE),
  closingWithUsage: NOTHING,
  closing: NOTHING,
  limited: Buffer.concat([BEGINNING, renderText(ENDLESS_PIECE), renderEnding('max_tokens', 1)]),
  renderError: (message) => ({ type: 'error', error: { type: 'invalid_request_error', message } }),
});
