/** Owns the registration of the messages format: what the gateway asks of it, in one object. */
import type { Protocol } from '../protocol.ts';
import { checkRequest } from './check-request.ts';
import { codec } from './codec.ts';
import { startFold } from './fold-stream.ts';
import { MessagesStreamObserver } from './observe-stream.ts';
import { readAnswer } from './read-answer.ts';
import { streamOfAnswer } from './stream-of-answer.ts';
import { KEEP_ALIVE, renderError, renderStreamError } from './vocabulary.ts';

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
