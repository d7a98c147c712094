/** Assembles the half of the chat-completions format that providers use. */
import type { GenerationUpstream } from '../../upstream-protocol.ts';
import { readAnswer } from '../shared/usage.ts';
import { startFold } from '../stream/fold-stream.ts';
import { ChatStreamObserver } from '../stream/observe-stream.ts';
import { streamOfAnswer } from '../stream/stream-of-answer.ts';
import { parseAnswer, readError } from './parse-answer.ts';
import { startStreamParser } from './parse-stream.ts';
import { RENDERED_FEATURES, renderRequest } from './render-request.ts';

export const chatUpstream = {
  name: 'chat',
  translates: true,
  passThrough: {
    forwardHeaders: () => [],
    stripReasoning: null,
    startObserver: (settings) => new ChatStreamObserver(settings),
    startFold,
  },
  headers: [],
  reportsUsageOnRequest: true,
  signsReasoning: false,
  outputLimitMember: ({ chat }) => chat.outputLimitMember,
  optionalMembers: {
    reasoning_effort: 'reasoning',
    temperature: 'temperature',
    top_p: 'top_p',
    top_k: 'top_k',
    frequency_penalty: 'frequency_penalty',
    presence_penalty: 'presence_penalty',
    seed: 'seed',
    parallel_tool_calls: 'parallel_tool_calls',
    service_tier: 'service_tier',
    verbosity: 'verbosity',
  },
  replaceableMembers: ['stop', 'stream_options', 'max_tokens', 'max_completion_tokens'],
  renderedFeatures: RENDERED_FEATURES,
  renderRequest,
  deltaMembers: ['content', 'reasoning_content', 'reasoning'],
  startStreamParser,
  parseAnswer,
  readAnswer,
  streamOfAnswer,
  readError,
} satisfies GenerationUpstream;
