/** Runs the thread that stores content: answers one request at a time. */
import { faultOf } from '../sqlite-fault.ts';
import { type ContentDatabase, openContentDatabase } from './content-database.ts';
import type { ContentAnswers, ContentReply, ContentRequest } from './content-thread.ts';

declare const self: Worker;

let database: ContentDatabase | null = null;

function opened(): ContentDatabase {
  if (database === null) throw new Error('content was asked for before its database was opened');
  return database;
}

function answer(request: ContentRequest): ContentAnswers[keyof ContentAnswers] {
  switch (request.kind) {
    case 'open':
      database = openContentDatabase(request.path, request.key);
      return null;
    case 'keep':
      opened().keep(request.contents, request.bytesMax);
      return null;
    case 'find':
      return opened().find(request.account, request.requestId);
    case 'read':
      return opened().read(request.account, request.requestId);
    case 'list':
      return opened().list(request.range, request.limit);
    case 'search':
      return opened().search(request.account, request.requestIds, request.words, request.timeMs);
    case 'workspaces':
      return opened().workspaces();
    case 'sweep':
      return opened().sweep(request.cutoff, request.bytesMax);
    case 'close':
      database?.close();
      database = null;
      return null;
  }
}

self.onmessage = ({ data }: MessageEvent<{ readonly number: number; readonly request: ContentRequest }>) => {
  const { number, request } = data;
  let reply: ContentReply;
  try {
    reply = { number, answer: answer(request) };
  } catch (fault) {
    reply = { number, fault: faultOf(fault) };
  }
  self.postMessage(reply);
};
