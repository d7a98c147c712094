/**
 * Runs a writer thread that dies when an administrative write contains the text `exit` or `throw`, in the way that the
 * text says. For tests.
 */
import '../writer/writer-worker.ts';
import type { WriterRequest } from '../writer/writer-messages.ts';

declare const self: Worker;

const answer = self.onmessage;

self.onmessage = (event: MessageEvent<WriterRequest>) => {
  const given = event.data.kind === 'writes' ? event.data.writes.flat().flatMap(({ parameters }) => parameters) : [];
  if (given.includes('exit')) process.exit(1);
  if (given.includes('throw')) throw new Error('the writer broke');
  answer?.call(self, event);
};
