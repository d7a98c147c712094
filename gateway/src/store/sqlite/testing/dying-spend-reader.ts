/** Runs a thread that reads spending and dies when queried for a key called `exit` or `throw`. For tests. */
import '../spend/spend-worker.ts';
import type { SpendRequest } from '../spend/spend-thread.ts';

declare const self: Worker;

const answer = self.onmessage;

self.onmessage = (event: MessageEvent<SpendRequest>) => {
  const names = event.data.questions.flatMap((question) => question.names);
  if (names.includes('exit')) process.exit(1);
  if (names.includes('throw')) throw new Error('the reader broke');
  answer?.call(self, event);
};
