/** Assembles the half of the Responses format that providers use. */
import { describeError, readErrorBody, type UpstreamError } from '../../answer/error-body.ts';
import { withRetryDelay } from '../../answer/retry-details.ts';
import { asText } from '../../json.ts';
import type { GenerationUpstream, HeaderLines } from '../../upstream-protocol.ts';
import { readAnswer } from '../shared/usage.ts';
import { startFold } from '../stream/fold-stream.ts';
import { ResponsesStreamObserver } from '../stream/observe-stream.ts';
import { streamOfAnswer } from '../stream/stream-of-answer.ts';
import { parseAnswer, startStreamParser } from './parse-stream.ts';
import { RENDERED_FEATURES, renderRequest } from './render-request.ts';
import { expandSummaries, stripReasoning } from './strip-reasoning.ts';

export const responsesUpstream = {
  name: 'responses',
  translates: true,
  passThrough: {
    forwardHeaders,
    stripReasoning,
    expandSummaries,
    startObserver: () => new ResponsesStreamObserver(),
    startFold,
  },
  headers: [],
  reportsUsageOnRequest: false,
  // OpenAI seals reasoning, and takes it back with the calls after it.
  signsReasoning: true,
  outputLimitMember: () => 'max_output_tokens',
  optionalMembers: {
    reasoning: 'reasoning',
    temperature: 'temperature',
    top_p: 'top_p',
    parallel_tool_calls: 'parallel_tool_calls',
    service_tier: 'service_tier',
    safety_identifier: 'end_user',
  },
  replaceableMembers: [],
  renderedFeatures: RENDERED_FEATURES,
  renderRequest,
  deltaMembers: ['delta'],
  startStreamParser,
  parseAnswer,
  readAnswer,
  streamOfAnswer,
  readError,
} satisfies GenerationUpstream;

/** Features of the format that the client opts in to. Headers that select among the operator's accounts are not sent. */
function forwardHeaders(headers: Headers): HeaderLines {
  const beta = headers.get('openai-beta');
  return beta === null ? [] : [['openai-beta', beta]];
}

/** Never throws. `message` is not scrubbed. */
function readError(body: Buffer): UpstreamError {
  const { message, code, error } = readErrorBody(body);
  const described = withRetryDelay(describeError(message, code, asText(error?.param)), error);
  return code === 'invalid_encrypted_content' ? { ...described, condition: 'signature' } : described;
}
