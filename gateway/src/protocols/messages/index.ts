/** Registers the messages protocol. */

import type { Codec } from '../codec.ts';
import type { Protocol } from '../protocol.ts';
import { checkRequest } from './client/check-request.ts';
import { parseRequest } from './client/parse-request.ts';
import { renderAnswer } from './client/render-answer.ts';
import { KEEP_ALIVE, renderError, renderStreamError } from './client/render-error.ts';
import { startStreamRenderer } from './client/render-stream.ts';
import { startFold } from './stream/fold-stream.ts';
import { MessagesStreamObserver } from './stream/observe-stream.ts';
import { readAnswer } from './stream/read-answer.ts';
import { streamOfAnswer } from './stream/stream-of-answer.ts';
import { parseAnswer, readError } from './upstream/parse-answer.ts';
import { startStreamParser } from './upstream/parse-stream.ts';
import { renderRequest } from './upstream/render-request.ts';

const codec: Codec = {
  parseRequest,
  renderRequest,
  startStreamParser,
  parseAnswer,
  startStreamRenderer,
  renderAnswer,
  readError,
};

export const messages: Protocol = {
  name: 'messages',
  codec,
  checkRequest,
  readAnswer,
  streamOfAnswer,
  startObserver: () => new MessagesStreamObserver(),
  startFold,
  cutReason: 'max_tokens',
  renderError,
  renderStreamError,
  keepAlive: KEEP_ALIVE,
};
