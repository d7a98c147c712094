/** Assembles the half of the images format that providers use. */
import { DIRECT_UPSTREAM } from '../../openai/direct-format.ts';
import type { DirectUpstream } from '../../upstream-protocol.ts';
import { readAnswer } from '../shared/read-answer.ts';
import { ImageStreamObserver } from '../stream/observe-stream.ts';
import { streamOfAnswer } from '../stream/stream-of-answer.ts';

export const imagesUpstream: DirectUpstream = {
  ...DIRECT_UPSTREAM,
  name: 'images',
  passThrough: {
    forwardHeaders: () => [],
    stripReasoning: null,
    startObserver: () => new ImageStreamObserver(),
    startFold: null,
  },
  readAnswer,
  streamOfAnswer,
};
