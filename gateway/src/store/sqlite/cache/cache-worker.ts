/** Runs the thread that stores cached answers: answers one request at a time. */
import type { ThreadReply } from '../database/store-thread.ts';
import { faultOf } from '../sqlite-fault.ts';
import { type CacheDatabase, openCacheDatabase } from './cache-database.ts';
import type { CacheReplies, CacheRequest } from './cache-thread.ts';

declare const self: Worker;

let database: CacheDatabase | null = null;

function opened(): CacheDatabase {
  if (database === null) throw new Error('cached answers were asked for before their database was opened');
  return database;
}

function answer(request: CacheRequest): CacheReplies[keyof CacheReplies] {
  switch (request.kind) {
    case 'open':
      database = openCacheDatabase(request.path, request.key);
      return null;
    case 'keep':
      opened().keep(request.answer, request.limits);
      return null;
    case 'find':
      return opened().find(request.name, request.sinceMs);
    case 'sweep':
      return opened().sweep(request.cutoffs);
    case 'close':
      database?.close();
      database = null;
      return null;
  }
}

self.onmessage = ({ data }: MessageEvent<{ readonly number: number; readonly request: CacheRequest }>) => {
  const { number, request } = data;
  let reply: ThreadReply<CacheReplies>;
  try {
    reply = { number, answer: answer(request) };
  } catch (fault) {
    reply = { number, fault: faultOf(fault) };
  }
  const found = 'answer' in reply && typeof reply.answer === 'object' ? reply.answer : null;
  self.postMessage(reply, found === null ? [] : [found.body.buffer as ArrayBuffer]);
};
