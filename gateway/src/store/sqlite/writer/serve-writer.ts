/** Serves requests in the writer thread: one at a time, in order. */
import type { ReachFailpoint } from '../failpoints.ts';
import { faultOf } from '../sqlite-fault.ts';
import { openWriterDatabase, type WriterDatabase } from './writer-database.ts';
import { failedReply, type WriterReply, type WriterRequest } from './writer-messages.ts';

/** The message port of the thread. */
export interface WriterPort {
  onmessage: ((event: MessageEvent<WriterRequest>) => void) | null;
  postMessage(reply: WriterReply): void;
}

/** Answers the port's requests from now on. `reach` is called at each failpoint. */
export function serveWriter(port: WriterPort, reach: ReachFailpoint): void {
  let writer: WriterDatabase | null = null;

  function answer(request: WriterRequest): WriterReply {
    try {
      if (request.kind === 'open') {
        writer = openWriterDatabase(request, reach);
        return { opened: writer.opened };
      }
      if (request.kind === 'writes') return opened(writer).keepWrites(request.writes);
      if (request.kind === 'ingest') return { ingested: opened(writer).ingest(request.throughSeq) };
      if (request.kind === 'chunk') return { chunked: opened(writer).chunk() };
      if (request.kind === 'probe') opened(writer).probe();
      else opened(writer).close();
      return true;
    } catch (fault) {
      return failedReply(faultOf(fault));
    }
  }

  port.onmessage = ({ data: request }) => port.postMessage(answer(request));
}

function opened(database: WriterDatabase | null): WriterDatabase {
  if (database === null) throw new Error('the writer was asked to write before it was opened');
  return database;
}
