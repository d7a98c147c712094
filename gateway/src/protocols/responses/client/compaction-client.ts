/**
 * Assembles the client half of `/v1/responses/compact`: a request whose answer is the compaction of its input. A host of
 * the format compacts itself; another model writes a summary. Source: specification of the Responses API, A.1 and E.5.
 */
import { CallFailure } from '../../../errors/call-failure.ts';
import type { Generation } from '../../../generation/generation.ts';
import { summaryRequest } from '../../../generation/summarize.ts';
import type { AnswerContext, GenerationClient } from '../../client-protocol.ts';
import { asArray, asObject, parseObject } from '../../json.ts';
import { responsesClient } from './client-protocol.ts';

const PATH = '/compact';

export const compactionClient: GenerationClient = {
  ...responsesClient,
  endpoints: [{ path: `/responses${PATH}`, countOnly: false }],
  checkRequest: (outline, context) => ({
    ...responsesClient.checkRequest(outline, context),
    // It has no streams, and does not run in the background.
    stream: false,
    background: undefined,
    below: PATH,
  }),
  parseRequest(outline, notes, asked) {
    const request = responsesClient.parseRequest(outline, notes, asked);
    return { ...(request.summarizes ? request : summaryRequest(request, 'input')), stream: false };
  },
  renderAnswer,
};

/** Throws CallFailure `upstream_malformed` for an answer that would leave the client without its history. */
function renderAnswer(generation: Generation, context: AnswerContext) {
  const { json, finish_reason } = responsesClient.renderAnswer(generation, context);
  const { id, created_at, output, usage } = parseObject(json) ?? {};
  const isCompacted = asArray(output).some((item) => asObject(item)?.type === 'compaction');
  if (!isCompacted) throw new CallFailure('upstream_malformed', 'the model wrote no summary of the conversation');
  return { json: JSON.stringify({ id, object: 'response.compaction', created_at, output, usage }), finish_reason };
}
