/** The thread that keeps content, but for one thing: asked to keep a call named `die`, it ends. */
import type { ContentRequest } from '../content-thread.ts';
import '../content-worker.ts';

declare const self: Worker;

const answer = self.onmessage;
self.onmessage = (event: MessageEvent<{ readonly request: ContentRequest }>) => {
  const { request } = event.data;
  if (request.kind === 'keep' && request.contents.some(({ requestId }) => requestId === 'die')) process.exit(1);
  answer?.call(self, event);
};
