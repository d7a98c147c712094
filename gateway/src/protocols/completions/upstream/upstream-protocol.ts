/** Assembles the half of the legacy completions format that providers use. */
import { DIRECT_UPSTREAM } from '../../openai/direct-format.ts';
import type { DirectUpstream } from '../../upstream-protocol.ts';
import { readAnswer } from '../shared/read-answer.ts';
import { startFold, streamOfAnswer } from '../stream/fold-stream.ts';
import { CompletionsStreamObserver } from '../stream/observe-stream.ts';

export const completionsUpstream: DirectUpstream = {
  ...DIRECT_UPSTREAM,
  name: 'completions',
  passThrough: {
    forwardHeaders: () => [],
    stripReasoning: null,
    startObserver: (settings) => new CompletionsStreamObserver(settings),
    startFold,
  },
  reportsUsageOnRequest: true,
  outputLimitMember: () => 'max_tokens',
  readAnswer,
  streamOfAnswer,
};
