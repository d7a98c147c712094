/**
 * Provides the kind `vertex`: Google Cloud's Vertex AI, with Gemini in Google's format, Claude in Anthropic's, and the
 * models of other publishers over chat completions. Project, location and model are in the path; tokens come from
 * Google's credentials. Source: @anthropic-ai/vertex-sdk 1.1, google-genai 3.4 (2026-11-22).
 */
import { SSE } from '../../framing/sse-decoder.ts';
import { modelOf } from '../../protocols/gemini/shared/model-names.ts';
import type { UpstreamProtocolName } from '../../protocols/names.ts';
import { SURROUNDINGS, type Surroundings } from '../credentials/surroundings.ts';
import type { OpenExchange } from '../exchanges/chained-exchange.ts';
import { openContinued } from '../exchanges/continued-exchange.ts';
import { BetaMemory, openHostedAttempt, startRenewal } from '../hosted/attempt.ts';
import { editBody } from '../hosted/edit-body.ts';
import {
  ADC,
  createGoogleBearer,
  DOCUMENT,
  findCredentialFaults,
  findProjectSetting,
  isForeign,
  PROJECT,
} from '../hosted/google-bearer.ts';
import type {
  GivenProvider,
  MemberFault,
  Operation,
  RemoteKind,
  RequestCredential,
  SecretMember,
  SettingMember,
  Settings,
  UpstreamRequest,
} from '../provider.ts';
import { type HostedModel, NO_QUIRKS } from '../quirks.ts';
import { METHODS, nextPage, readModelNames } from './gemini.ts';
import { compatibleTraits } from './openai-compatible.ts';

const EXPRESS_KEY: SecretMember = {
  name: 'api_key',
  title: 'API key (express mode)',
  description: 'An API key of Vertex AI in express mode, without `project`.',
  hint: 'Instead of a project and credentials.',
  mayBeNone: false,
};

const LOCATION: SettingMember = {
  name: 'location',
  title: 'Location',
  description: 'The location of its endpoint: `global` (default), `us`, `eu`, or a region such as `europe-west4`.',
  // It becomes a part of the host's name.
  pattern: /^[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/,
  expected: 'a location such as global, eu or europe-west4',
  hint: 'Leave blank for global, or enter eu, us or a region such as europe-west4.',
};

/** The Messages API there has a version of its own, unless the client names one from which it is the same everywhere. */
const UNIFIED_VERSION = '2026-10-21';
const OWN_VERSION = 'vertex-2023-10-16';

export function createVertex(surroundings: Surroundings): RemoteKind {
  const memory = new BetaMemory();
  const bearer = createGoogleBearer(surroundings);
  const kind: RemoteKind = {
    name: 'vertex',
    title: 'Google Vertex AI',
    speaks: 'generateContent for Gemini, messages for Claude, chat completions for models of other publishers',
    protocols: ['gemini', 'messages', 'chat'],
    protocolsOf: (model) => [formatOf(model)],
    // As at AI Studio: gemini.ts.
    quirks: { ...NO_QUIRKS, hiddenReasoning: 'always' },
    takes: ['base_url', 'timeouts'],
    secrets: [EXPRESS_KEY, DOCUMENT],
    sources: [ADC],
    settings: [PROJECT, LOCATION],
    findSettings: (given, usesMachine) => findProjectSetting(given, usesMachine, surroundings),
    vendorDomains: ['googleapis.com'],
    isAmbient: isForeign,
    framing: () => SSE,
    checkConfig,
    chatTraits: compatibleTraits,
    geminiPlatform: 'vertex',
    hostedModel,
    vendorHost: null,
    local: null,
    completeBaseUrl: (url) => url.replace(/\/v1(?:beta1)?$/, ''),
    addressOf: ({ location = 'global' }) => `https://${hostOf(location)}`,
    regionOf: ({ location = 'global' }) => location,
    endpoint,
    listing: {
      path: '/v1beta1/publishers/google/models?pageSize=300',
      headers: [],
      read: readModelNames,
      next: nextPage,
    },
    headers: ({ api_key }) => (api_key === undefined ? [] : [['x-goog-api-key', api_key.reveal()]]),
    prepare,
    authorize(request, credential) {
      // A key of express mode is in every request.
      return hasKey(credential) ? undefined : bearer.authorize(request, credential);
    },
    openAttempt(request, { key, model, responseBytesMax, send }, listener) {
      const { note, renew } = startRenewal();
      const open = (next: UpstreamRequest) =>
        send(kind, next, (final, by) => (hasKey(by) ? undefined : bearer.authorize(final, by, note)));
      const hosted = (next: UpstreamRequest): OpenExchange => {
        return (inner) => openHostedAttempt({ request: next, key, memory, renew, open, marksBlocksOnly: true }, inner);
      };
      const mayContinue = request.protocol === 'gemini' && modelOf(model).mayContinue;
      return mayContinue ? openContinued(request, hosted, responseBytesMax, listener) : hosted(request)(listener);
    },
  };
  return kind;
}

export const vertex: RemoteKind = createVertex(SURROUNDINGS);

function hostOf(location: string): string {
  if (location === 'global') return 'aiplatform.googleapis.com';
  return location === 'us' || location === 'eu'
    ? `aiplatform.${location}.rep.googleapis.com`
    : `${location}-aiplatform.googleapis.com`;
}

/**
 * A name may end in its version: `claude-opus-4-8@20260401`, `claude-opus-5@default`. Claude is without schemas by
 * Google's default policy.
 */
function hostedModel(model: string, { location = 'global' }: Settings): HostedModel | null {
  const priced = { provider: location === 'global' ? 'vertex' : 'vertex-regional', model };
  const name = model.replace(/@(?:\d+|default)$/, '');
  if (name.startsWith('claude-')) {
    return { catalog: { provider: 'anthropic', model: name }, priced, refuses: ['structured_output', 'media_urls'] };
  }
  return name.includes('/') ? null : { catalog: { provider: 'google', model: name }, priced, refuses: [] };
}

/** Other publishers are named before a slash: `meta/llama-5-maas`. */
function formatOf(model: string): UpstreamProtocolName {
  if (model.startsWith('claude-')) return 'messages';
  return model.includes('/') ? 'chat' : 'gemini';
}

function endpoint(
  protocol: UpstreamProtocolName,
  operation: Operation,
  model: string,
  { project, location = 'global' }: Settings,
): string | null {
  const within = project === undefined ? '' : `/projects/${project}/locations/${location}`;
  if (protocol === 'messages') {
    const name = operation === 'count_tokens' ? 'count-tokens' : encodeURIComponent(model).replaceAll('%40', '@');
    const verb = operation === 'stream' ? 'streamRawPredict' : 'rawPredict';
    return `/v1${within}/publishers/anthropic/models/${name}:${verb}`;
  }
  if (protocol === 'chat')
    return operation === 'count_tokens' ? null : `/v1${within}/endpoints/openapi/chat/completions`;
  // A tuned model is the number of its endpoint.
  const place = /^\d+$/.test(model) ? 'endpoints' : 'publishers/google/models';
  return `/v1beta1${within}/${place}/${encodeURIComponent(model)}:${METHODS[operation]}`;
}

/** Anthropic's format without `model`, which is in the path; a count of tokens keeps it. */
function prepare(request: UpstreamRequest): UpstreamRequest {
  if (request.protocol !== 'messages') return request;
  const isUnified = request.headers.some(([name, value]) => name === 'anthropic-version' && value === UNIFIED_VERSION);
  const version = { set: ['anthropic_version'], json: `"${isUnified ? UNIFIED_VERSION : OWN_VERSION}"` } as const;
  const edits = request.operation === 'count_tokens' ? [version] : [{ remove: ['model'] } as const, version];
  return { ...request, body: editBody(request.body, edits) };
}

function hasKey({ secrets }: RequestCredential): boolean {
  return secrets[EXPRESS_KEY.name] !== undefined;
}

function checkConfig(given: GivenProvider): readonly MemberFault[] {
  const { secrets, settings } = given;
  if (secrets.api_key !== undefined) return checkExpress(settings);
  const faults = findCredentialFaults(given, ', or an api_key of express mode');
  return settings.project === undefined ? [NO_PROJECT, ...faults] : faults;
}

/** Express mode has neither projects nor locations. */
function checkExpress(settings: Settings): readonly MemberFault[] {
  const strange = [PROJECT.name, LOCATION.name].filter((name) => settings[name] !== undefined);
  return strange.map((member) => ({
    member,
    found: `${member} with api_key`,
    expected: 'an API key of express mode alone, or credentials with project and location',
    advice: `Remove ${member}, or write credentials instead of api_key.`,
  }));
}

const NO_PROJECT: MemberFault = {
  member: PROJECT.name,
  found: 'no project',
  expected: 'the id of a Google Cloud project',
  advice: `Add project: my-project, or an api_key of express mode.`,
};
