/** The thread that reads usage and logs: one question after the other, each in one state of the database. */
import { openReadConnection } from '../connection.ts';
import { answerRead } from './answer-read.ts';
import type { ReadRequest } from './usage-messages.ts';

declare const self: Worker;

self.onmessage = ({ data: request }: MessageEvent<ReadRequest>) =>
  self.postMessage(answerRead(request, openReadConnection));
