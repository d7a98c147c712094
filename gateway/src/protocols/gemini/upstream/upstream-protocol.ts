/** Assembles the half of Gemini's format that providers use. */
import type { GenerationUpstream } from '../../upstream-protocol.ts';
import { readError } from '../shared/read-error.ts';
import { WRITTEN_SEAL } from '../shared/seals.ts';
import { startFold } from '../stream/fold-stream.ts';
import { GeminiStreamObserver } from '../stream/observe-stream.ts';
import { readCount, renderCount } from './count-tokens.ts';
import { nameModel } from './name-model.ts';
import { parseAnswer, readAnswer, streamOfAnswer } from './parse-answer.ts';
import { startStreamParser } from './parse-stream.ts';
import { RENDERED_FEATURES, renderRequest } from './render-request.ts';
import { stripSignatures } from './strip-signatures.ts';

export const geminiUpstream = {
  name: 'gemini',
  translates: true,
  passThrough: {
    forwardHeaders: () => [],
    stripReasoning: stripSignatures,
    writtenMark: WRITTEN_SEAL,
    nameModel,
    startObserver: () => new GeminiStreamObserver(),
    startFold,
  },
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
  renderedFeatures: RENDERED_FEATURES,
  renderRequest,
  counting: { render: renderCount, read: readCount },
  deltaMembers: ['text'],
  startStreamParser,
  parseAnswer,
  readAnswer,
  streamOfAnswer,
  readError,
} satisfies GenerationUpstream;
