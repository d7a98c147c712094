/**
 * Provides the kind `bedrock`: Amazon Bedrock, through Mantle (Anthropic's messages and OpenAI's chat completions as they
 * are) or its runtime service (InvokeModel, Converse, chat completions).
 */
import { AWS_EVENT_STREAM } from '../../framing/aws-event-stream.ts';
import { BEDROCK_MESSAGES } from '../../framing/bedrock-messages.ts';
import type { Framing } from '../../framing/framing.ts';
import { SSE } from '../../framing/sse-decoder.ts';
import { bareId, vendorOf } from '../../protocols/converse/shared/vendors.ts';
import { asArray, asObject, asText } from '../../protocols/json.ts';
import type { UpstreamProtocolName } from '../../protocols/names.ts';
import type { ConverseTraits } from '../../protocols/upstream-traits.ts';
import { findRegion } from '../credentials/aws-profile.ts';
import { AwsSigner, bearerIn } from '../credentials/aws-signer.ts';
import { dnsSuffixOf } from '../credentials/aws-sts.ts';
import { encodeSegment } from '../credentials/sigv4.ts';
import { SURROUNDINGS, type Surroundings } from '../credentials/surroundings.ts';
import { perCredential } from '../credentials/token-cache.ts';
import { editBody } from '../hosted/edit-body.ts';
import type { OfferedModel } from '../listing.ts';
import type {
  Door,
  FinalRequest,
  GivenProvider,
  HeaderLine,
  Listing,
  MemberFault,
  Operation,
  RemoteKind,
  RequestCredential,
  SecretMember,
  SettingMember,
  Settings,
} from '../provider.ts';
import { NO_QUIRKS } from '../quirks.ts';
import { type BedrockDoor, type BedrockState, openBedrockAttempt } from './bedrock/attempt.ts';
import { toCount } from './bedrock/count-tokens.ts';
import { toInvoke } from './bedrock/invoke-body.ts';
import { BedrockMemory } from './bedrock/memory.ts';
import { hasChatAtRuntime, hostedModel, openaiPathAtMantle, protocolsFor, RUNTIME_SETTINGS } from './bedrock/models.ts';
import { API_KEY, compatibleTraits } from './openai-compatible.ts';

export const KEY_SECRETS: readonly SecretMember[] = [
  {
    name: 'access_key_id',
    title: 'Access key ID',
    description: 'The id of an AWS access key, with `secret_access_key`.',
    hint: 'Together with its secret, instead of an API key.',
    mayBeNone: false,
  },
  {
    name: 'secret_access_key',
    title: 'Secret access key',
    description: 'The secret of an AWS access key; it signs requests and is never sent.',
    mayBeNone: false,
  },
  {
    name: 'session_token',
    title: 'Session token',
    description: 'The session token of a temporary AWS access key.',
    hint: 'Only with a temporary access key.',
    mayBeNone: false,
  },
];

export const REGION: SettingMember = {
  name: 'region',
  title: 'Region',
  description:
    'The AWS region of its services, such as `eu-central-1`. Default: that of `AWS_REGION`, `AWS_DEFAULT_REGION` or the profile.',
  pattern: /^[a-z]{2,8}(?:-[a-z]{2,12}){1,2}-\d{1,2}$/,
  expected: 'an AWS region such as eu-central-1',
};

type Described = Pick<SettingMember, 'name' | 'title' | 'description' | 'hint'>;

function choice(described: Described, options: readonly string[]): SettingMember {
  return { ...described, pattern: new RegExp(`^(?:${options.join('|')})$`), expected: options.join(', '), options };
}

const RUNTIME_ONLY = 'Applies to the runtime service only.';

const SERVICE_TIERS = ['priority', 'default', 'flex', 'reserved'] as const;
const LATENCIES = ['standard', 'optimized'] as const;

const SETTINGS: readonly SettingMember[] = [
  REGION,
  choice(
    {
      name: 'door',
      title: 'Service',
      description:
        'The service that gets requests: `mantle` (messages and chat completions as they are), `runtime` (InvokeModel, Converse), or `auto`: Mantle for bare model ids, and the runtime service for versions, inference profiles, ARNs, and where Mantle does not have the model.',
      hint: 'By default Mantle where it has the model, else the runtime service.',
    },
    ['auto', 'mantle', 'runtime'],
  ),
  {
    name: 'guardrail_id',
    title: 'Guardrail ID',
    description:
      'The id or ARN of the Bedrock guardrail of all requests, with `guardrail_version`; only of the runtime service.',
    pattern: /^[a-zA-Z0-9:/-]{1,256}$/,
    expected: 'the id or ARN of a guardrail',
  },
  {
    name: 'guardrail_version',
    title: 'Guardrail version',
    description: 'The version of the guardrail, or `DRAFT`.',
    pattern: /^(?:\d{1,8}|DRAFT)$/,
    expected: 'a number or DRAFT',
  },
  choice(
    {
      name: 'service_tier',
      title: 'Service tier',
      description: 'The service tier of all requests; only of the runtime service.',
      hint: RUNTIME_ONLY,
    },
    SERVICE_TIERS,
  ),
  choice(
    {
      name: 'latency',
      title: 'Latency',
      description: 'Whether answers are optimized for latency; only of the runtime service.',
      hint: RUNTIME_ONLY,
    },
    LATENCIES,
  ),
  choice(
    {
      name: 'fips',
      title: 'FIPS',
      description: '`on`: the hosts of the runtime service with validated cryptography.',
      hint: 'Hosts with validated cryptography, of the runtime service.',
    },
    ['on'],
  ),
];

function regionOf(settings: Settings): string {
  return settings.region ?? 'us-east-1';
}

function hostOf(service: string, settings: Settings): string {
  const region = regionOf(settings);
  const fips = settings.fips === undefined ? '' : '-fips';
  return `https://${service}${fips}.${region}.${dnsSuffixOf(region)}`;
}

function runtimePath(protocol: UpstreamProtocolName, operation: Operation, model: string): string | null {
  if (operation === 'count_tokens') {
    // Of foundation models only: inference profiles have no counter, and other ARNs name no such model.
    return protocol === 'chat' || vendorOf(model) === null
      ? null
      : `/model/${encodeSegment(bareId(model))}/count-tokens`;
  }
  const isStream = operation === 'stream';
  const path = `/model/${encodeSegment(model)}`;
  if (protocol === 'messages') return `${path}/${isStream ? 'invoke-with-response-stream' : 'invoke'}`;
  if (protocol === 'converse') return `${path}/${isStream ? 'converse-stream' : 'converse'}`;
  if (protocol === 'chat') return hasChatAtRuntime(model) ? '/openai/v1/chat/completions' : null;
  return null;
}

function mantlePath(protocol: UpstreamProtocolName, operation: Operation, model: string): string | null {
  if (protocol === 'messages') return `/anthropic/v1/messages${operation === 'count_tokens' ? '/count_tokens' : ''}`;
  return protocol === 'chat' && operation !== 'count_tokens' ? `${openaiPathAtMantle(model)}/chat/completions` : null;
}

function runtimeAccept(protocol: UpstreamProtocolName, operation: Operation): string {
  if (operation !== 'stream') return 'application/json';
  return protocol === 'chat' ? 'text/event-stream' : 'application/vnd.amazon.eventstream';
}

/** What Converse has in its body, the other operations have in headers. */
function runtimeHeaders(settings: Settings): readonly HeaderLine[] {
  const given: ReadonlyArray<readonly [string, string | undefined]> = [
    ['x-amzn-bedrock-guardrailidentifier', settings.guardrail_id],
    ['x-amzn-bedrock-guardrailversion', settings.guardrail_version],
    ['x-amzn-bedrock-service-tier', settings.service_tier],
    ['x-amzn-bedrock-performanceconfig-latency', settings.latency],
  ];
  return given.flatMap(([name, value]): HeaderLine[] => (value === undefined ? [] : [[name, value]]));
}

function framingOf(protocol: UpstreamProtocolName): Framing {
  if (protocol === 'converse') return AWS_EVENT_STREAM;
  return protocol === 'messages' ? BEDROCK_MESSAGES : SSE;
}

function converseTraits({ guardrail_id, guardrail_version, service_tier, latency }: Settings): ConverseTraits {
  return {
    guardrail:
      guardrail_id === undefined || guardrail_version === undefined
        ? null
        : { identifier: guardrail_id, version: guardrail_version, trace: null, streamProcessing: null },
    serviceTier: SERVICE_TIERS.find((word) => word === service_tier) ?? null,
    latency: LATENCIES.find((word) => word === latency) ?? null,
  };
}

/**
 * The models of `ListFoundationModels` that can be called: versions without on-demand use need an inference profile.
 * Legacy ones answer until their end of life. The list has no pages. Source: botocore 1.44.5, `bedrock`.
 */
function readFoundationModels(answer: unknown): readonly OfferedModel[] | null {
  const list = asObject(answer)?.modelSummaries;
  if (!Array.isArray(list)) return null;
  return list.flatMap((one) => {
    const { modelId, inferenceTypesSupported, modelLifecycle } = asObject(one) ?? {};
    if (typeof modelId !== 'string') return [];
    if (modelId.includes(':') && !asArray(inferenceTypesSupported).includes('ON_DEMAND')) return [];
    const endMs = Date.parse(asText(asObject(modelLifecycle)?.endOfLifeTime) ?? '');
    return [
      { model: modelId, ...(Number.isNaN(endMs) ? {} : { retiresOn: new Date(endMs).toISOString().slice(0, 10) }) },
    ];
  });
}

const CREDENTIAL = 'api_key, or access_key_id with secret_access_key, or credentials: chain';

/** The region of this machine's variables and files, as settings, where `usesMachine`. */
export function findRegionSetting(usesMachine: boolean, surroundings: Surroundings): Settings {
  const region = usesMachine ? findRegion(surroundings) : null;
  return region === null || !REGION.pattern.test(region) ? {} : { [REGION.name]: region };
}

/** The faults of a credential of AWS: an API key, an access key, or AWS's own sources. */
export function findKeyFaults({ members, secrets, source }: GivenProvider): readonly MemberFault[] {
  const faults: MemberFault[] = [];
  const fault = (member: string, found: string, expected: string, advice: string) =>
    faults.push({ member, found, expected, advice });
  const hasKeys = secrets.access_key_id !== undefined && secrets.secret_access_key !== undefined;
  const half = KEY_SECRETS.find(({ name }) => secrets[name] !== undefined)?.name;
  if (half !== undefined && !hasKeys) {
    fault(half, `${half} alone`, 'access_key_id with secret_access_key', 'Add the other one.');
  } else if (hasKeys && secrets.api_key !== undefined) {
    fault('api_key', 'api_key together with access_key_id', 'one of the two', 'Remove one.');
  } else if (source === null && !hasKeys && secrets.api_key === undefined) {
    fault(
      members.has('api_key') ? 'api_key' : 'credentials',
      'no credential',
      CREDENTIAL,
      'Add credentials: chain, or a key.',
    );
  }
  return faults;
}

function checkConfig(given: GivenProvider): readonly MemberFault[] {
  const { settings } = given;
  const faults: MemberFault[] = [];
  const fault = (member: string, found: string, expected: string, advice: string) =>
    faults.push({ member, found, expected, advice });
  if (settings.region === undefined) fault('region', 'no region', REGION.expected, 'Add region, or set AWS_REGION.');
  faults.push(...findKeyFaults(given));
  if ((settings.guardrail_id === undefined) !== (settings.guardrail_version === undefined)) {
    const member = settings.guardrail_id === undefined ? 'guardrail_version' : 'guardrail_id';
    fault(member, `${member} alone`, 'guardrail_id with guardrail_version', 'Add the other one.');
  }
  const only = RUNTIME_SETTINGS.find((name) => settings[name] !== undefined);
  if (settings.door === 'mantle' && only !== undefined) {
    fault(only, `${only} with door: mantle`, 'door: auto or runtime', `Remove ${only}, or write another door.`);
  }
  return faults;
}

/** `surroundings`: where `credentials: chain` looks. */
export function createBedrock(surroundings: Surroundings): RemoteKind {
  const signers = perCredential((credential) => {
    const bearer = credential.source === null ? null : bearerIn(surroundings);
    return new AwsSigner(surroundings, credential, { region: regionOf(credential.settings), bearer });
  });
  const signerOf = (credential: RequestCredential) => signers(credential, '');
  const authorizeFor = (service: string) => (request: FinalRequest, credential: RequestCredential) => {
    const scope = { region: regionOf(credential.settings), service };
    return signerOf(credential).authorize(
      request,
      (token) => credential.hide(token),
      scope,
      () => undefined,
    );
  };
  const runtime: BedrockDoor = {
    service: 'bedrock',
    addressOf: (settings) => hostOf('bedrock-runtime', settings),
    endpoint: runtimePath,
    accept: runtimeAccept,
    prepare(request, _model, settings) {
      if (request.operation === 'count_tokens') return request.protocol === 'messages' ? toCount(request) : request;
      const added = runtimeHeaders(settings);
      if (request.protocol === 'messages') return toInvoke(request, added);
      return request.protocol === 'chat' ? { ...request, headers: [...request.headers, ...added] } : request;
    },
  };
  const mantle: BedrockDoor = {
    service: 'bedrock-mantle',
    addressOf: (settings) => `https://bedrock-mantle.${regionOf(settings)}.api.aws`,
    endpoint: mantlePath,
    // A count may be that of an inference profile, which Mantle does not have.
    prepare(request, model) {
      if (request.operation !== 'count_tokens' || bareId(model) === model) return request;
      return { ...request, body: editBody(request.body, [{ set: ['model'], json: JSON.stringify(bareId(model)) }]) };
    },
    authorize: authorizeFor('bedrock-mantle'),
  };
  const control: Door = {
    addressOf: (settings) => hostOf('bedrock', settings),
    endpoint: () => null,
    authorize: authorizeFor('bedrock'),
  };
  const memoryOf = perCredential(() => new BedrockMemory());
  const state: BedrockState = { doors: { mantle, runtime }, memoryOf, signerOf, nowMs: () => surroundings.nowMs() };
  const atMantle: Listing = { path: '/v1/models', headers: [], door: mantle };
  return {
    ...runtime,
    name: 'bedrock',
    title: 'Amazon Bedrock',
    speaks: 'messages, chat completions or Converse, by the model',
    protocols: ['messages', 'chat', 'converse'],
    protocolsOf: protocolsFor,
    // Shows a summary of the reasoning and bills all of it, as Anthropic does.
    quirks: { ...NO_QUIRKS, hiddenReasoning: 'on_request' },
    takes: ['base_url', 'timeouts'],
    secrets: [{ ...API_KEY, hint: 'A Bedrock API key, instead of an access key.' }, ...KEY_SECRETS],
    sources: [
      {
        word: 'chain',
        title: "AWS's own sources",
        description:
          "the sources of AWS's own tools, in their order: variables such as `AWS_BEARER_TOKEN_BEDROCK` and `AWS_ACCESS_KEY_ID`, the profile, a web identity, the role of the container or instance",
      },
    ],
    settings: SETTINGS,
    findSettings: (_credential, usesMachine) => findRegionSetting(usesMachine, surroundings),
    vendorDomains: ['amazonaws.com', 'amazonaws.com.cn', 'amazonaws.eu', 'api.aws'],
    framing: framingOf,
    checkConfig,
    chatTraits: compatibleTraits,
    converseTraits,
    hostedModel,
    regionOf,
    vendorHost: null,
    local: null,
    completeBaseUrl: (url) => url,
    // A door that is not the kind's own has the same address where one is configured.
    listing: { path: '/foundation-models', headers: [], door: control, read: readFoundationModels },
    listingOf({ secrets, source }, settings) {
      const bears = secrets.api_key !== undefined || (source !== null && bearerIn(surroundings) !== null);
      return bears || settings.door === 'mantle' ? atMantle : this.listing;
    },
    // The key works at every door of Bedrock.
    headers: ({ api_key }) => (api_key === undefined ? [] : [['authorization', `Bearer ${api_key.reveal()}`]]),
    openAttempt: (request, tools, listener) => openBedrockAttempt(state, request, tools, listener),
  };
}

export const bedrock = createBedrock(SURROUNDINGS);
