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
    if (request.kind === 'open') {
      writer = openWriterDatabase(request.path, request.databaseBytesMax, Date.now());
      return true;
    }
    if (writer === null) throw new Error(`the writer was asked to ${request.kind} before it was opened`);
    if (request.kind === 'batch') return writer.keep(request.records, request.writes);
    if (request.kind === 'probe') writer.probe();
    else writer.close();
    return true;
  } catch (fault) {
    return failedReply(nameSqliteFault(fault));
  }
}
