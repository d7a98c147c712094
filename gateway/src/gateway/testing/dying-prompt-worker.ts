/** A thread that counts prompts and dies when asked of a model called `exit` or `throw`. For tests. */
import '../count-prompt-worker.ts';
import type { PromptToCount } from '../count-prompt.ts';

declare const self: Worker;

const answer = self.onmessage;

self.onmessage = (event: MessageEvent<PromptToCount>) => {
  if (event.data.model === 'exit') process.exit(1);
  if (event.data.model === 'throw') throw new Error('the counter broke');
  answer?.call(self, event);
};
