/** Assembles the half of Gemini's format that providers use; no client uses the other. */
import type { GenerationUpstream } from '../../upstream-protocol.ts';
import { readCount, renderCount } from './count-tokens.ts';
import { parseAnswer, readAnswer, streamOfAnswer } from './parse-answer.ts';
import { startStreamParser } from './parse-stream.ts';
import { readError } from './read-error.ts';
import { renderRequest } from './render-request.ts';

export const geminiUpstream = {
  name: 'gemini',
  translates: true,
  passThrough: null,
  headers: [],
  reportsUsageOnRequest: false,
  signsReasoning: false,
  // AI Studio and Vertex accept each other's: https://github.com/vercel/ai/pull/13060
  issuer: 'google',
  // The name under which the honoring of `maxOutputTokens` is learned.
  outputLimitMember: () => 'max_tokens',
  optionalMembers: {
    temperature: 'temperature',
    topP: 'top_p',
    topK: 'top_k',
    seed: 'seed',
    presencePenalty: 'presence_penalty',
    frequencyPenalty: 'frequency_penalty',
    thinkingConfig: 'reasoning',
    serviceTier: 'service_tier',
  },
  replaceableMembers: [],
  renderRequest,
  counting: { render: renderCount, read: readCount },
  deltaMembers: ['text'],
  startStreamParser,
  parseAnswer,
  readAnswer,
  streamOfAnswer,
  readError,
} satisfies GenerationUpstream;
