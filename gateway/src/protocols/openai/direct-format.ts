/** Has what the formats share that OpenAI defined, that are not translated and whose answers come in one piece. */
import type { CallFailure } from '../../errors/call-failure.ts';
import { describeError, readErrorBody, type UpstreamError } from '../answer/error-body.ts';
import { withRetryDelay } from '../answer/retry-details.ts';
import type { DirectClient } from '../client-protocol.ts';
import { asText } from '../json.ts';
import type { RequestFacts } from '../request/request-facts.ts';
import type { DirectUpstream, PassThrough } from '../upstream-protocol.ts';
import { OPENAI_CLIENT } from './openai-client.ts';
import { KEEP_ALIVE, renderError, renderStreamError, statusOf } from './render-error.ts';

/** The client's half without its name, addresses and check. */
export const DIRECT_CLIENT: Omit<DirectClient, 'name' | 'endpoints' | 'checkRequest'> = {
  translates: false,
  ...OPENAI_CLIENT,
  cutReason: null,
  // The path has no such model: nothing is translated.
  statusOf: (failure: CallFailure) => (failure.kind === 'model_wrong_protocol' ? 404 : statusOf(failure)),
  renderError,
  renderStreamError,
  keepAlive: KEEP_ALIVE,
};

/** The facts of a request of text for one answer in one piece, without a limit of its output. */
export const DIRECT_FACTS: Omit<RequestFacts, 'model' | 'inputBytes'> = {
  stream: false,
  wantsUsage: true,
  endUser: null,
  mediaParts: 0,
  outputTokensMax: null,
  outputLimitMember: null,
  otherLimit: null,
  mayChangeLimit: false,
  answers: 1,
  extras: undefined,
};

const PLAIN_ANSWERS: PassThrough = {
  forwardHeaders: () => [],
  stripReasoning: null,
  startObserver: null,
  startFold: null,
};

/** The providers' half without its name and the reading of answers. */
export const DIRECT_UPSTREAM: Omit<DirectUpstream, 'name' | 'readAnswer'> = {
  translates: false,
  passThrough: PLAIN_ANSWERS,
  headers: [],
  reportsUsageOnRequest: false,
  outputLimitMember: () => null,
  renderRequest: null,
  streamOfAnswer: () => null,
  readError,
};

/** Never throws. `message` is not scrubbed. */
function readError(body: Buffer): UpstreamError {
  const { message, code, error } = readErrorBody(body);
  return withRetryDelay(describeError(message, code, asText(error?.param)), error);
}
