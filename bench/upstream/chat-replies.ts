/** Renders the upstream's answers as chat completions. */
import { ANSWER, ENDLESS_PIECE, TEXT_PIECES, USED } from './answer-content.ts';
import { renderChunk } from './render-http.ts';
import { assembleReplies, type Replies } from './replies.ts';

const id = 'chatcmpl-bench';
const created = 1_790_000_000;
const model = 'bench-upstream-2026-11';
const system_fingerprint = 'fp_bench';

const USAGE = {
  prompt_tokens: USED.input,
  completion_tokens: USED.output,
  total_tokens: USED.input + USED.output,
  prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0, accepted_prediction_tokens: 0 },
};

function renderEvent(members: { readonly choices: readonly object[]; readonly usage?: object }): Buffer {
  const chunk = { id, object: 'chat.completion.chunk', created, model, system_fingerprint, ...members };
  return renderChunk(`data: ${JSON.stringify(chunk)}\n\n`);
}

function renderDelta(delta: object, finish_reason: string | null): Buffer {
  return renderEvent({ choices: [{ index: 0, delta, logprobs: null, finish_reason }] });
}

const DONE = renderChunk('data: [DONE]\n\n');

export const CHAT_REPLIES: Replies = assembleReplies({
  plainBody: {
    id,
    object: 'chat.completion',
    created,
    model,
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
    system_fingerprint,
  },
  writes: [
    renderDelta({ role: 'assistant', content: '', refusal: null }, null),
    ...TEXT_PIECES.map((content) => renderDelta({ content }, null)),
    renderDelta({}, 'stop'),
  ],
  textEvent: renderDelta({ content: ENDLESS_PIECE }, null),
  closingWithUsage: Buffer.concat([renderEvent({ choices: [], usage: USAGE }), DONE]),
  closing: DONE,
  limited: Buffer.concat([
    renderDelta({ role: 'assistant', content: ENDLESS_PIECE }, null),
    renderDelta({}, 'length'),
    renderEvent({ choices: [], usage: { ...USAGE, completion_tokens: 1, total_tokens: USED.input + 1 } }),
    DONE,
  ]),
  renderError: (message) => ({ error: { message, type: 'invalid_request_error', param: 'model', code: null } }),
});
