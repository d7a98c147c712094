/** The writer thread: owns the only connection that writes. Takes one request at a time and answers it once it is durable. */
import { nameSqliteFault } from './store-failure.ts';
import { openWriterDatabase, type WriterDatabase } from './writer-database.ts';
import { failedReply, type WriterReply, type WriterRequest } from './writer-messages.ts';

declare const self: Worker;

let writer: WriterDatabase | null = null;

self.onmessage = ({ data: request }: MessageEvent<WriterRequest>) => {
  self.postMessage(answer(request));
};

function answer(request: WriterRequest): WriterReply {
  try {
    if (typeof request === 'string') return opened(writer).keepRecords(request);
    if (request.kind === 'open') {
      writer = openWriterDatabase(request.path, request.databaseBytesMax, Date.now());
      return true;
    }
    if (request.kind === 'writes') return opened(writer).keepWrites(request.writes);
    if (request.kind === 'probe') opened(writer).probe();
    else opened(writer).close();
    return true;
  } catch (fault) {
    return failedReply(nameSqliteFault(fault));
  }
}

function opened(database: WriterDatabase | null): WriterDatabase {
  if (database === null) throw new Error('the writer was asked to write before it was opened');
  return database;
}
