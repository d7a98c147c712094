/**
 * Defines the shape of a loaded configuration and every default that is not a limit (those are in limits.ts). Reads no
 * file and no environment.
 */

import type { NanoUsd } from '../billing/money.ts';
import type { TierMember } from '../generation/usage.ts';
import type { IpRange } from '../lib/ip-range.ts';
import type { Secret } from '../lib/secret.ts';
import type { ClientProtocolName } from '../protocols/names.ts';
import type { ChatTraits } from '../protocols/upstream-traits.ts';
import type { Provider, ProviderModel, Timeouts } from '../providers/provider.ts';
import type { BodyPolicy, HoldMode } from '../store/ports/records.ts';
import type { EgressProxy } from '../upstream/egress-proxy.ts';
import type { Limits } from './limits.ts';
import type { TelemetryConfig } from './telemetry-config.ts';

export const DEFAULT_HOST = '127.0.0.1';
export const DEFAULT_PORT = 8080;
export const DEFAULT_CONSOLE = 'on';
export const DEFAULT_WEBSOCKET = 'on';
export const DEFAULT_PUBLIC_STATUS = 'summary';
export const DEFAULT_HOLDS: HoldMode = 'adaptive';
export const DEFAULT_UNPRICED = 'refuse';
export const DEFAULT_BROKEN_ANSWERS = 'bill';
export const DEFAULT_LOG_BODIES = 'off';
export const DEFAULT_STORE_RESPONSES = 'off';
export const DEFAULT_RETENTION_DAYS = 30;
export const DEFAULT_FILE = 'tollgate.yaml';
export const DEFAULT_DATA_DIR = '.tollgate';

/** The server that takes the email of this gateway. */
export interface SmtpConfig {
  readonly host: string;
  readonly port: number;
  /** `starttls`: it begins in plain text, and nothing is sent unless TLS follows; `tls`: from the first byte. */
  readonly encryption: 'starttls' | 'tls' | 'none';
  readonly login: { readonly user: string; readonly password: Secret } | null;
  /** The address of the sender. */
  readonly from: string;
}

/** Another service for signing in to the console (OpenID Connect). */
export interface OidcConfig {
  /** Part of the address that the service redirects to. */
  readonly id: string;
  /** The label of its button. */
  readonly name: string;
  /** Without a trailing slash; `/.well-known/openid-configuration` follows. */
  readonly issuer: string;
  readonly clientId: string;
  /** Null: a public client. */
  readonly clientSecret: Secret | null;
  /** Domains of email addresses, lower case; null: any. */
  readonly allowedDomains: readonly string[] | null;
}

/** Absolute paths of PEM files: the certificate with its chain, and its key. */
export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
}

export interface ServerConfig {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** The prefix of printed addresses, without a trailing slash; null: host and port. */
  readonly publicUrl: string | null;
  /** Addresses of proxies that may state the client they forward for. */
  readonly trustedProxies: readonly IpRange[];
  readonly console: boolean;
  /** Whether `/v1/responses` takes WebSockets. */
  readonly websocket: boolean;
  /** What `/status` shows to anonymous clients: whether the service works, or also its providers by name. */
  readonly publicStatus: 'summary' | 'full';
  readonly oidc: readonly OidcConfig[];
  /**
   * Origins (`http://10.0.0.7:9100`) that a provider entered in the console may use although they are private or
   * unencrypted.
   */
  readonly privateOrigins: readonly string[];
  /** Absolute paths; null: plain HTTP. */
  readonly tls: TlsFiles | null;
  /** The HTTP proxy of connections to https origins; null: none. */
  readonly egressProxy: EgressProxy | null;
  /** Null: no email is sent. */
  readonly smtp: SmtpConfig | null;
}

/** The name of a provider, a target or a credential: without characters that a header or a label would escape. */
export const SHORT_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** The most that a weight can be: enough to send one request in a thousand elsewhere. */
export const WEIGHT_MAX = 1_000;

/** What a target may promise about data, and a key, workspace or request may require: `eu`, `zdr`. */
export const DATA_TAG = /^[a-z0-9][a-z0-9._-]{0,31}$/;

export const ROUTING_STRATEGIES = ['order', 'weight', 'latency', 'price'] as const;
export const AFFINITIES = ['session', 'prefix', 'off'] as const;
export const FALLBACK_CLASSES = ['overflow', 'policy'] as const;

/** How a call chooses among the targets of its model, and what may follow a failure. */
export interface RoutingConfig {
  readonly strategy: (typeof ROUTING_STRATEGIES)[number];
  /** What keeps a conversation at one target and credential: its session id, the start of its prompt, or nothing. */
  readonly affinity: (typeof AFFINITIES)[number];
  /** Attempts after the first. */
  readonly maxExtraAttempts: number;
  /** The sum of estimated costs up to which attempts that the upstream may have billed are followed by another. */
  readonly uncertainRetry: NanoUsd;
  /** A late first attempt gets a second one beside it. */
  readonly hedge: boolean;
  /** Refusals of the request itself that another target may answer. */
  readonly fallbackOn: readonly (typeof FALLBACK_CLASSES)[number][];
}

/** The routing of models without their own. `strategy` null: `weight` where a target has a weight, else `order`. */
export interface RoutingDefaults extends Omit<RoutingConfig, 'strategy'> {
  readonly strategy: RoutingConfig['strategy'] | null;
}

export const DEFAULT_ROUTING: RoutingDefaults = {
  strategy: null,
  affinity: 'session',
  maxExtraAttempts: 2,
  uncertainRetry: 500_000_000n,
  hedge: false,
  fallbackOn: [],
};

/** The operator's settings for all calls. */
export interface Defaults {
  /** For accounts and keys without a setting of their own. */
  readonly holds: HoldMode;
  /** What happens to a call to a model without a price if a balance or a budget would have to pay. */
  readonly unpriced: 'refuse' | 'allow';
  /** Who pays for a response that broke off: `bill` charges the account for the part received, `free` the operator. */
  readonly brokenAnswers: 'bill' | 'free';
  /** Which calls have their content stored, for workspaces without a setting of their own. */
  readonly logBodies: BodyPolicy;
  /** Translated responses are kept for a day, so that later requests may continue them. */
  readonly storeResponses: boolean;
  /** The number of days that content is kept. */
  readonly retentionDays: number;
  readonly routing: RoutingDefaults;
}

/** USD per million tokens as written, digits unchanged; an omitted member is absent. */
export interface RatesText {
  readonly input: string;
  readonly output: string;
  readonly cache_read?: string;
  readonly cache_write?: string;
  readonly cache_write_5m?: string;
  readonly cache_write_1h?: string;
  readonly reasoning?: string;
  readonly audio_input?: string;
  readonly audio_cache_read?: string;
  readonly audio_output?: string;
  readonly image_input?: string;
  readonly image_output?: string;
  readonly cache_write_30m?: string;
}

/** Rates for a whole call with more input than `above` tokens. */
export interface PriceTierText extends RatesText {
  readonly above: number;
}

export interface PricePeriodText extends RatesText {
  /** Ascending. */
  readonly tiers?: readonly PriceTierText[];
  /** A day, or an instant with its zone. */
  readonly from?: string;
  /** USD per 1,000 requests of tools that run upstream, by kind. */
  readonly per_1000_requests?: { readonly [kind: string]: string };
  /** USD per unit; images also by size and quality. */
  readonly per_unit?: {
    readonly image?: string | { readonly [kind: string]: string };
    readonly second?: string;
    readonly character?: string;
    readonly search?: string;
  };
  /** Factors of all rates per token, by member and word. */
  readonly modifiers?: { readonly [member in TierMember]?: { readonly [word: string]: string } };
}

/** A model's price as in the file; no two entries of a list begin at the same instant. */
export type PriceText = 'free' | PricePeriodText | readonly PricePeriodText[];

/** What the file says that a model accepts. Undefined: unspecified; the catalog and the kind of provider decide. */
export interface Capabilities {
  readonly reasoning?: boolean | undefined;
  readonly reasoning_effort?: readonly string[] | undefined;
  readonly thinking?: readonly string[] | undefined;
  readonly sampling?: boolean | undefined;
  readonly temperature_with_top_p?: boolean | undefined;
  readonly tools?: boolean | undefined;
  readonly forced_tool_choice?: boolean | undefined;
  readonly parallel_tool_calls?: boolean | undefined;
  readonly structured_output?: boolean | undefined;
  readonly strict_schemas?: boolean | undefined;
  readonly image?: boolean | undefined;
  readonly pdf?: boolean | undefined;
  readonly audio?: boolean | undefined;
  readonly output_limit?: ChatTraits['outputLimitMember'] | undefined;
}

export const NO_CAPABILITIES: Capabilities = {};

export interface AliasConfig {
  readonly name: string;
  /** The endpoints that serve the model under this name: some or all of the model's. */
  readonly protocols: readonly ClientProtocolName[];
}

/** One (provider, model there, options) that serves a model. */
export interface TargetConfig extends ProviderModel {
  /** Unique in its model; by default `provider/model`. */
  readonly name: string;
  /** The targets of the lowest number are tried first. */
  readonly priority: number;
  /** Its share among those of its priority; 0: only as a fallback; null: not given. */
  readonly weight: number | null;
  /** The most open calls; null: any number. */
  readonly maxConcurrency: number | null;
  /** What it promises about data, such as `eu`. */
  readonly tags: readonly string[];
  /** Its own price, before that of the model; null: none. */
  readonly price: PriceText | null;
}

export interface ModelConfig {
  readonly name: string;
  readonly alias: readonly AliasConfig[];
  /** The endpoints that serve it; requests are translated for a target that speaks another format. */
  readonly protocols: readonly ClientProtocolName[];
  /** In the order of the file. */
  readonly targets: readonly [TargetConfig, ...TargetConfig[]];
  readonly routing: RoutingConfig;
  /** The file's capabilities, which override the catalog's. */
  readonly capabilities: Capabilities;
  /** Null: the catalog's price. */
  readonly price: PriceText | null;
}

export interface Config {
  /** Absolute path of its file; null: no file. */
  readonly file: string | null;
  /** Absolute path of the data folder. */
  readonly dataDir: string;
  readonly server: ServerConfig;
  readonly limits: Limits;
  readonly defaults: Defaults;
  readonly telemetry: TelemetryConfig;
  /** The time limits of `limits`: the defaults of each provider. */
  readonly timeouts: Timeouts;
  /** The source of `providers`. `built-in`: nothing was configured, so only the demo exists. */
  readonly providersFrom: 'file' | 'environment' | 'built-in';
  /** By name; never empty. */
  readonly providers: ReadonlyMap<string, Provider>;
  /** By public name, without aliases; null if the file has no `models`, so that the catalog's models are served. */
  readonly models: ReadonlyMap<string, ModelConfig> | null;
  /** Sentences for the startup output: what was found in the environment. */
  readonly notes: readonly string[];
}
