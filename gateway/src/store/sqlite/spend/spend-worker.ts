/**
 * Runs the thread that reads the spend of subjects: each request on a connection of its own, so that an idle thread
 * keeps none open.
 */
import { openReadConnection } from '../database/connection.ts';
import { faultOf } from '../sqlite-fault.ts';
import { readSpends } from './spend-reader.ts';
import type { SpendReply, SpendRequest } from './spend-thread.ts';

declare const self: Worker;

self.onmessage = ({ data: request }: MessageEvent<SpendRequest>) => self.postMessage(answer(request));

function answer({ path, questions }: SpendRequest): SpendReply {
  try {
    const database = openReadConnection(path);
    try {
      return { spent: readSpends(database, questions) };
    } finally {
      database.close();
    }
  } catch (fault) {
    return { failed: faultOf(fault) };
  }
}
