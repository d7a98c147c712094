/**
 * Runs a writer thread that dies when a batch contains a record called `exit` or `throw`, in the way that the name
 * says. For tests.
 */
import '../operations/writer-worker.ts';
import type { WriterRequest } from '../operations/writer-messages.ts';

declare const self: Worker;

const answer = self.onmessage;

self.onmessage = (event: MessageEvent<WriterRequest>) => {
  const records = typeof event.data === 'string' ? event.data : '';
  if (records.includes('"exit"')) process.exit(1);
  if (records.includes('"throw"')) throw new Error('the writer broke');
  answer?.call(self, event);
};
