/** Assembles the half of the messages format that providers use. */
import type { GenerationUpstream, HeaderLines } from '../../upstream-protocol.ts';
import { readAnswer } from '../shared/usage.ts';
import { startFold } from '../stream/fold-stream.ts';
import { MessagesStreamObserver } from '../stream/observe-stream.ts';
import { streamOfAnswer } from '../stream/stream-of-answer.ts';
import { parseAnswer, readError } from './parse-answer.ts';
import { startStreamParser } from './parse-stream.ts';
import { RENDERED_FEATURES, renderRequest } from './render-request.ts';
import { stripThinking } from './strip-thinking.ts';

export const messagesUpstream = {
  name: 'messages',
  translates: true,
  passThrough: {
    forwardHeaders,
    stripReasoning: stripThinking,
    startObserver: () => new MessagesStreamObserver(),
    startFold,
  },
  // The version that accepts the most.
  headers: [['anthropic-version', '2023-06-01']],
  reportsUsageOnRequest: false,
  // Claude models accept each other's signatures; no chat host documents that.
  signsReasoning: true,
  outputLimitMember: () => 'max_tokens',
  optionalMembers: {
    temperature: 'temperature',
    top_p: 'top_p',
    top_k: 'top_k',
    thinking: 'reasoning',
    service_tier: 'service_tier',
    metadata: 'end_user',
  },
  replaceableMembers: ['reasoning_effort'],
  renderedFeatures: RENDERED_FEATURES,
  renderRequest,
  deltaMembers: ['text', 'thinking'],
  startStreamParser,
  parseAnswer,
  readAnswer,
  streamOfAnswer,
  readError,
} satisfies GenerationUpstream;

/**
 * Headers that would select among the operator's own workspaces or reveal where the caller runs: callers must not set
 * them upstream.
 */
const NOT_FORWARDED = new Set([
  'anthropic-version',
  'anthropic-workspace-id',
  'anthropic-organization-id',
  'anthropic-dangerous-direct-browser-access',
]);

/** The caller's version, betas and other `anthropic-*` headers. */
function forwardHeaders(headers: Headers, version: string | null): HeaderLines {
  const forwarded: Array<HeaderLines[number]> = version === null ? [] : [['anthropic-version', version]];
  for (const [name, value] of headers) {
    if (name.startsWith('anthropic-') && !NOT_FORWARDED.has(name)) forwarded.push([name, value]);
  }
  return forwarded;
}
