/** Owns the registration of the messages format: what the gateway asks of it, in one object. */

import type { Codec } from '../codec.ts';
import type { Protocol } from '../protocol.ts';
import { checkRequest } from './check-request.ts';
import { startFold } from './fold-stream.ts';
import { MessagesStreamObserver } from './observe-stream.ts';
import { parseAnswer, readError } from './parse-answer.ts';
import { parseRequest } from './parse-request.ts';
import { startStreamParser } from './parse-stream.ts';
import { readAnswer } from './read-answer.ts';
import { renderAnswer } from './render-answer.ts';
import { renderRequest } from './render-request.ts';
import { startStreamRenderer } from './render-stream.ts';
import { streamOfAnswer } from './stream-of-answer.ts';
import { KEEP_ALIVE, renderError, renderStreamError } from './vocabulary.ts';

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
