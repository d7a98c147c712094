/** Assembles Bedrock's Converse: a format that only providers use. */
import type { GenerationUpstream } from '../../upstream-protocol.ts';
import { readError } from '../shared/errors.ts';
import { readAnswer } from '../shared/usage.ts';
import { readCount, renderCount } from './count-tokens.ts';
import { parseAnswer } from './parse-answer.ts';
import { startStreamParser } from './parse-stream.ts';
import { RENDERED_FEATURES, renderRequest } from './render-request.ts';

export const converseUpstream = {
  name: 'converse',
  translates: true,
  passThrough: null,
  headers: [],
  reportsUsageOnRequest: false,
  // Only Anthropic's models sign, and accept each other's signatures.
  signsReasoning: true,
  outputLimitMember: () => 'max_tokens',
  optionalMembers: { temperature: 'temperature', top_p: 'top_p', top_k: 'top_k', thinking: 'reasoning' },
  replaceableMembers: [],
  renderedFeatures: RENDERED_FEATURES,
  renderRequest,
  counting: { render: renderCount, read: readCount },
  // Records are binary: their checksums differ, so none can be recognized by the one before.
  deltaMembers: [],
  startStreamParser,
  parseAnswer,
  readAnswer,
  // A stream comes from an address of its own, which answers with nothing else.
  streamOfAnswer: () => null,
  readError,
} satisfies GenerationUpstream;
