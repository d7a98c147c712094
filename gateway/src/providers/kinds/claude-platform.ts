/**
 * Provides the kinds of Claude Platform: Anthropic's own API, whole, behind the credentials of AWS and of Google Cloud.
 * Bodies, betas and names of models are Anthropic's. Source: anthropic 2.12, @anthropic-ai/aws-sdk;
 * https://docs.aws.amazon.com/claude-platform/latest/userguide/making-requests.html (2026-11-23).
 */
import { headerOf } from '../../upstream/response-head.ts';
import { AwsSigner, type Signed } from '../credentials/aws-signer.ts';
import { SURROUNDINGS, type Surroundings } from '../credentials/surroundings.ts';
import { perCredential } from '../credentials/token-cache.ts';
import type { Refusal } from '../exchanges/chained-exchange.ts';
import { BetaMemory, openHostedAttempt, startRenewal } from '../hosted/attempt.ts';
import {
  ADC,
  createGoogleBearer,
  DOCUMENT,
  findCredentialFaults,
  findProjectSetting,
  isForeign,
  PROJECT,
} from '../hosted/google-bearer.ts';
import type { Door, GivenProvider, MemberFault, RemoteKind, SettingMember } from '../provider.ts';
import { type HostedModel, NO_QUIRKS } from '../quirks.ts';
import { anthropic } from './anthropic.ts';
import { exceptionOf } from './bedrock/refusals.ts';
import { findKeyFaults, findRegionSetting, KEY_SECRETS, REGION } from './bedrock.ts';
import { API_KEY } from './openai-compatible.ts';

// It becomes a header on AWS, and a part of the path on Google Cloud.
const WORKSPACE: SettingMember = {
  name: 'workspace_id',
  title: 'Workspace ID',
  description: 'The id of the workspace of Claude Platform, such as `wrkspc_01AbC`.',
  pattern: /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/,
  expected: 'the id of a workspace such as wrkspc_01AbC',
};

const SERVICE = 'aws-external-anthropic';

/** As Anthropic's own host: anthropic.ts, presets/vendors.ts. */
const PLATFORM = {
  ...anthropic,
  quirks: { ...NO_QUIRKS, hiddenReasoning: 'on_request' },
  // The marketplaces' prices are their own.
  hostedModel: (model: string): HostedModel => ({
    catalog: { provider: 'anthropic', model },
    priced: null,
    refuses: [],
  }),
} satisfies RemoteKind;

function findMissing(members: readonly SettingMember[], { settings }: GivenProvider): readonly MemberFault[] {
  return members
    .filter(({ name }) => settings[name] === undefined)
    .map(({ name, expected }) => ({ member: name, found: `no ${name}`, expected, advice: `Add ${name}.` }));
}

export function createAnthropicAws(surroundings: Surroundings): RemoteKind {
  const memory = new BetaMemory();
  // The bearer key among the variables is Bedrock's.
  const signerOf = perCredential(
    (credential, region) => new AwsSigner(surroundings, credential, { region, bearer: null }),
  );
  const authorizeBy =
    (note: (signed: Signed) => void): NonNullable<Door['authorize']> =>
    (request, credential) => {
      if (credential.secrets.api_key !== undefined) return;
      const { region = '' } = credential.settings;
      const signer = signerOf(credential, region);
      return signer.authorize(request, (token) => credential.hide(token), { region, service: SERVICE }, note);
    };
  const kind: RemoteKind = {
    ...PLATFORM,
    name: 'anthropic-aws',
    title: 'Claude Platform on AWS',
    secrets: [{ ...API_KEY, mayBeNone: false, hint: 'Instead of an AWS access key.' }, ...KEY_SECRETS],
    sources: [
      {
        word: 'chain',
        title: "AWS's own sources",
        description:
          "the sources of AWS's own tools, in their order: variables such as `AWS_ACCESS_KEY_ID`, the profile, a web identity, the role of the container or instance",
      },
    ],
    settings: [REGION, WORKSPACE],
    findSettings: (_credential, usesMachine) => findRegionSetting(usesMachine, surroundings),
    vendorDomains: ['api.aws'],
    vendorHost: 'api.aws',
    checkConfig: (given) => [...findMissing([REGION, WORKSPACE], given), ...findKeyFaults(given)],
    regionOf: ({ region = '' }) => region,
    addressOf: ({ region }) => (region === undefined ? null : `https://${SERVICE}.${region}.api.aws`),
    headers: ({ api_key }, { workspace_id = '' }) => [
      ['anthropic-workspace-id', workspace_id],
      ...(api_key === undefined ? [] : [['x-api-key', api_key.reveal()] as const]),
    ],
    authorize: authorizeBy(() => undefined),
    openAttempt(request, { key, credential, send }, listener) {
      let signed: Signed | null = null;
      const authorize = authorizeBy((used) => {
        signed = used;
      });
      const renew = (refusal: Refusal) => {
        if (signed === null) return false;
        const signer = signerOf(credential, credential.settings.region ?? '');
        return signer.learn(exceptionOf(refusal), headerOf(refusal.head, 'date'), signed);
      };
      return openHostedAttempt({ request, key, memory, renew, open: (next) => send(kind, next, authorize) }, listener);
    },
  };
  return kind;
}

export function createAnthropicGoogle(surroundings: Surroundings): RemoteKind {
  const memory = new BetaMemory();
  const bearer = createGoogleBearer(surroundings);
  const kind: RemoteKind = {
    ...PLATFORM,
    name: 'anthropic-google',
    title: 'Claude Platform on Google Cloud',
    secrets: [DOCUMENT],
    sources: [ADC],
    settings: [PROJECT, WORKSPACE],
    findSettings: (given, usesMachine) => findProjectSetting(given, usesMachine, surroundings),
    vendorDomains: ['googleapis.com'],
    vendorHost: 'claude.googleapis.com',
    isAmbient: isForeign,
    checkConfig: (given) => [...findMissing([PROJECT, WORKSPACE], given), ...findCredentialFaults(given)],
    addressOf({ project, workspace_id }) {
      if (project === undefined || workspace_id === undefined) return null;
      const workspace = `projects/${project}/locations/global/workspaces/${workspace_id}`;
      return `https://claude.googleapis.com/v1/${workspace}/invoke`;
    },
    headers: () => [],
    authorize: (request, credential) => bearer.authorize(request, credential),
    openAttempt(request, { key, send }, listener) {
      const { note, renew } = startRenewal();
      const authorize: Door['authorize'] = (final, by) => bearer.authorize(final, by, note);
      return openHostedAttempt({ request, key, memory, renew, open: (next) => send(kind, next, authorize) }, listener);
    },
  };
  return kind;
}

export const anthropicAws: RemoteKind = createAnthropicAws(SURROUNDINGS);
export const anthropicGoogle: RemoteKind = createAnthropicGoogle(SURROUNDINGS);
