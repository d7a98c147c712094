/** Provides the kind `gemini`: Google's own format at AI Studio. Model and stream switch are in the path. */
import { SSE } from '../../framing/sse-decoder.ts';
import { modelOf } from '../../protocols/gemini/shared/model-names.ts';
import { asObject } from '../../protocols/json.ts';
import { openContinued } from '../exchanges/continued-exchange.ts';
import type { NextPage, OfferedModel } from '../listing.ts';
import type { Operation, RemoteKind } from '../provider.ts';
import { NO_QUIRKS } from '../quirks.ts';
import { API_KEY, compatibleTraits, missingSecrets } from './openai-compatible.ts';

/** The methods of a model, and the query that makes a stream one of server-sent events. */
export const METHODS: Readonly<Record<Operation, string>> = {
  plain: 'generateContent',
  stream: 'streamGenerateContent?alt=sse',
  count_tokens: 'countTokens',
};

export const gemini: RemoteKind = {
  name: 'gemini',
  title: 'Google Gemini',
  speaks: 'generateContent',
  protocols: ['gemini', 'gemini_embeddings'],
  // Thoughts are billed in full and, unless requested, not shown: https://ai.google.dev/gemini-api/docs/thinking
  // (2026-11-20)
  quirks: { ...NO_QUIRKS, hiddenReasoning: 'always' },
  takes: ['base_url', 'timeouts'],
  secrets: [API_KEY],
  settings: [],
  framing: () => SSE,
  checkConfig: (given) => missingSecrets([API_KEY], given),
  chatTraits: compatibleTraits,
  vendorHost: null,
  local: null,
  // Clients name the host, a version, or the address for chat completions; `v1beta` has every member.
  completeBaseUrl(url) {
    const own = url.endsWith('/openai') ? url.slice(0, -'/openai'.length) : url;
    return /\/v\d[a-z0-9]*$/.test(own) ? own : `${own}/v1beta`;
  },
  openAttempt(request, { model, responseBytesMax, send }, listener) {
    if (request.protocol !== 'gemini' || !modelOf(model).mayContinue) return send(this, request)(listener);
    return openContinued(request, (next) => send(this, next), responseBytesMax, listener);
  },
  endpoint(protocol, operation, model) {
    if (protocol !== 'gemini_embeddings') return `/${pathOf(model)}:${METHODS[operation]}`;
    return operation === 'plain' ? `/${pathOf(model)}:batchEmbedContents` : null;
  },
  listing: { path: '/models?pageSize=1000', headers: [], read: readModelNames, next: nextPage },
  // Never in the query, which gets into logs.
  headers: ({ api_key }) => (api_key === undefined ? [] : [['x-goog-api-key', api_key.reveal()]]),
};

/** The methods by which the gateway calls models. */
const OFFERED: readonly unknown[] = ['generateContent', 'batchEmbedContents', 'embedContent'];

/** The models of a list that answer or embed, by the ends of their paths. */
export function readModelNames(answer: unknown): readonly OfferedModel[] | null {
  const whole = asObject(answer);
  const listed = whole?.models ?? whole?.publisherModels;
  if (!Array.isArray(listed)) return null;
  return listed.flatMap((one) => {
    const { name, supportedGenerationMethods: methods } = asObject(one) ?? {};
    if (typeof name !== 'string' || (Array.isArray(methods) && !methods.some((method) => OFFERED.includes(method))))
      return [];
    return [{ model: name.startsWith('tunedModels/') ? name : name.slice(name.lastIndexOf('/') + 1) }];
  });
}

/** Google's lists name the token of the next page; on the last one it is absent or empty. */
export function nextPage(answer: unknown): NextPage {
  const { nextPageToken = '' } = asObject(answer) ?? {};
  return nextPageToken === '' ? null : ['pageToken', nextPageToken];
}

/** A name with a slash (`tunedModels/x`) is the whole path. */
function pathOf(model: string): string {
  const segments = model.includes('/') ? model.split('/') : ['models', model];
  return segments.map(encodeURIComponent).join('/');
}
