/** Owns the registration of the chat-completions format: what the gateway asks of it, in one object. */
import type { Protocol } from '../protocol.ts';
import { checkRequest } from './check-request.ts';
import { codec } from './codec.ts';
import { startFold } from './fold-stream.ts';
import { ChatStreamObserver } from './observe-stream.ts';
import { readAnswer } from './read-answer.ts';
import { streamOfAnswer } from './stream-of-answer.ts';
import { KEEP_ALIVE, renderError, renderStreamError } from './vocabulary.ts';

export const chatCompletions: Protocol = {
  name: 'chat',
  codec,
  checkRequest,
  readAnswer,
  streamOfAnswer,
  startObserver: (settings) => new ChatStreamObserver(settings),
  startFold,
  cutReason: 'length',
  renderError,
  renderStreamError,
  keepAlive: KEEP_ALIVE,
};
