/** Assembles the half of Gemini's format that clients use. The model and the kind of answer are in its paths. */
import type { GenerationClient } from '../../client-protocol.ts';
import { OPENAI_CLIENT } from '../../openai/openai-client.ts';
import { checkRequest } from './check-request.ts';
import { parseRequest, REQUEST_MEMBERS } from './parse-request.ts';
import { readNeeds } from './read-needs.ts';
import { KEEP_ALIVE, renderError, renderStreamError, statusOf } from './render-error.ts';
import { renderAnswer, startStreamRenderer } from './render-stream.ts';

export const geminiClient: GenerationClient = {
  // Google has no headers about limits: they are those of OpenAI's formats.
  ...OPENAI_CLIENT,
  name: 'gemini',
  translates: true,
  // Its addresses contain the model: server/gemini-paths.ts.
  endpoints: [],
  shownPath: '/v1beta/models/MODEL:generateContent',
  keyHeader: 'x-goog-api-key',
  prefersApiKeyHeader: true,
  checkRequest,
  readNeeds,
  requestMembers: REQUEST_MEMBERS,
  parseRequest,
  countMember: 'totalTokens',
  startsWithInputTokens: false,
  startStreamRenderer,
  renderAnswer,
  answersImages: true,
  cutReason: 'MAX_TOKENS',
  carriesSeals: true,
  reasoningMember: 'contents[].parts[].thought',
  statusOf,
  renderError,
  renderStreamError,
  keepAlive: KEEP_ALIVE,
};
