/** A writer thread that dies, in the way its name says, when a batch holds a record called `exit` or `throw`. For tests. */
import '../writer/writer-worker.ts';
import type { WriterRequest } from '../writer/writer-messages.ts';

declare const self: Worker;

const answer = self.onmessage;

self.onmessage = (event: MessageEvent<WriterRequest>) => {
  const records = typeof event.data === 'string' ? event.data : '';
  if (records.includes('"exit"')) process.exit(1);
  if (records.includes('"throw"')) throw new Error('the writer broke');
  answer?.call(self, event);
};
