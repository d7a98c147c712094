/**
 * Renders the upstream's answers in OpenAI's Responses format. A timed stream has as many writes as a chat stream: the
 * events around the text share the first and last writes.
 */
import { ANSWER, ENDLESS_PIECE, TEXT_PIECES, USED } from './answer-content.ts';
import { renderChunk } from './render-http.ts';
import { assembleReplies, type Replies } from './replies.ts';

const RESPONSE = {
  id: 'resp_bench',
  object: 'response',
  created_at: 1_790_000_000,
  model: 'bench-upstream-2026-11',
};
const ITEM = { id: 'msg_bench', type: 'message', role: 'assistant' };
const PLACE = { item_id: ITEM.id, output_index: 0, content_index: 0 };

function renderUsage(output_tokens: number): object {
  return {
    input_tokens: USED.input,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: USED.input + output_tokens,
  };
}

function renderPart(text: string): object {
  return { type: 'output_text', text, annotations: [], logprobs: [] };
}

/** Renders events in order; each gets the next number of its stream. */
function startStream(): (type: string, members: object) => Buffer {
  let sequence_number = 0;
  return (type, members) => {
    const event = renderChunk(`event: ${type}\ndata: ${JSON.stringify({ type, sequence_number, ...members })}\n\n`);
    sequence_number += 1;
    return event;
  };
}

/** The writes of a whole stream: its beginning, one per piece, its end. */
function renderStream(pieces: readonly string[], status: 'completed' | 'incomplete', output_tokens: number): Buffer[] {
  const render = startStream();
  const begun = { response: { ...RESPONSE, status: 'in_progress', output: [], usage: null } };
  const text = pieces.join('');
  const item = { ...ITEM, status, content: [renderPart(text)] };
  const incomplete_details = status === 'completed' ? null : { reason: 'max_output_tokens' };
  const response = { ...RESPONSE, status, incomplete_details, output: [item], usage: renderUsage(output_tokens) };
  return [
    Buffer.concat([
      render('response.created', begun),
      render('response.in_progress', begun),
      render('response.output_item.added', {
        output_index: 0,
        item: { ...ITEM, status: 'in_progress', content: [] },
      }),
      render('response.content_part.added', { ...PLACE, part: renderPart('') }),
    ]),
    ...pieces.map((delta) => render('response.output_text.delta', { ...PLACE, delta, logprobs: [] })),
    Buffer.concat([
      render('response.output_text.done', { ...PLACE, text, logprobs: [] }),
      render('response.content_part.done', { ...PLACE, part: renderPart(text) }),
      render('response.output_item.done', { output_index: 0, item }),
      render(`response.${status}`, { response }),
    ]),
  ];
}

const [BEGINNING, TEXT_EVENT] = renderStream([ENDLESS_PIECE], 'completed', 1);
if (BEGINNING === undefined || TEXT_EVENT === undefined) throw new Error('a stream has a beginning and a text event');

const NOTHING = Buffer.alloc(0);

/** A stream always reports its usage, so it ends the same way whether or not the client asked for it. */
export const RESPONSES_REPLIES: Replies = assembleReplies({
  plainBody: {
    ...RESPONSE,
    status: 'completed',
    error: null,
    incomplete_details: null,
    output: [{ ...ITEM, status: 'completed', content: [renderPart(ANSWER)] }],
    usage: renderUsage(USED.output),
  },
  writes: renderStream(TEXT_PIECES, 'completed', USED.output),
  textEvent: TEXT_EVENT,
  closingWithUsage: NOTHING,
  closing: NOTHING,
  limited: Buffer.concat(renderStream([ENDLESS_PIECE], 'incomplete', 1)),
  renderError: (message) => ({ error: { message, type: 'invalid_request_error', param: 'model', code: null } }),
});
