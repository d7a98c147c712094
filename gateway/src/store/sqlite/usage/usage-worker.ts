/** Runs the thread that reads usage and logs: one request at a time, each in one state of the database. */
import { setPriority } from 'node:os';
import { openReadConnection } from '../database/connection.ts';
import { answerRead } from './answer-read.ts';
import type { ReadRequest } from './usage-reader.ts';

declare const self: Worker;

/**
 * Lower priority than calls. Only on Linux does 0 mean the calling thread; elsewhere it is the whole process.
 * https://man7.org/linux/man-pages/man2/setpriority.2.html
 */
const NICENESS = 10;
if (process.platform === 'linux') setPriority(0, NICENESS);

self.onmessage = ({ data: request }: MessageEvent<ReadRequest>) =>
  self.postMessage(answerRead(request, openReadConnection));
