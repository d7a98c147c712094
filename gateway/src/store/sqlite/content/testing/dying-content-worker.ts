/** Runs the content thread, but exits when asked to store a call named `die`. */
import type { ContentRequest } from '../content-thread.ts';
import '../content-worker.ts';

declare const self: Worker;

const answer = self.onmessage;
self.onmessage = (event: MessageEvent<{ readonly request: ContentRequest }>) => {
  const { request } = event.data;
  if (request.kind === 'keep' && request.contents.some(({ requestId }) => requestId === 'die')) process.exit(1);
  answer?.call(self, event);
};
