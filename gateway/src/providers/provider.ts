/**
 * Defines what the gateway knows of a provider: its kind (how it is addressed, authorized and read), its configured
 * form, and the upstream that sends requests to one of its models. A kind is one file of kinds/, in registry.ts.
 */
import type { Framing } from '../framing/framing.ts';
import type { Secret } from '../lib/secret.ts';
import type { ClientProtocolName, UpstreamProtocolName } from '../protocols/names.ts';
import type { UpstreamProtocols } from '../protocols/registry.ts';
import type { OutputLimitMember } from '../protocols/request/request-facts.ts';
import type { ObjectPaths, ObjectRequest, ProviderState } from '../protocols/stored/shared-state.ts';
import type { ChatTraits, ConverseTraits, GeminiTraits } from '../protocols/upstream-traits.ts';
import type { ExchangeListener, UpstreamTap } from '../upstream/exchange.ts';
import type { RequestForm } from '../upstream/request-form.ts';
import type { OpenExchange } from './exchanges/chained-exchange.ts';
import type { ListPages } from './listing.ts';
import type { ChatQuirks, HostedModel, ProviderQuirks } from './quirks.ts';

/** The secrets of a provider by the names of their configuration members. A secret that is not given is absent. */
export interface Secrets {
  readonly [name: string]: Secret;
}

/** The settings of a provider's kind (a region, a project) by the names of their members; one not given is absent. */
export interface Settings {
  readonly [name: string]: string;
}

/** One key, account or role of a provider. */
export interface Credential {
  /** Unique in its provider; `default` where only secrets were given. */
  readonly name: string;
  readonly secrets: Secrets;
  /** The word of its kind that says where it is found (`chain`); null: its own secrets. */
  readonly source: string | null;
  /** Its share of new sessions; 0: only where no other can be used. */
  readonly weight: number;
  /** Credentials of one organisation share limits, caches and signatures. Null: the provider's only one. */
  readonly organisation: string | null;
  /** The models at the provider that it may be used for; null: all. */
  readonly models: readonly string[] | null;
}

export type CredentialPool = readonly [Credential, ...Credential[]];

/** The pool of a provider whose only credential was given without a name. */
export function singleCredential(secrets: Secrets, source: string | null = null): CredentialPool {
  return [{ name: 'default', secrets, source, weight: 1, organisation: null, models: null }];
}

export type HeaderLine = readonly [name: string, value: string];

/** A secret that a kind takes: a member of the provider in the configuration file, a field of the console's form. */
export interface SecretMember {
  readonly name: string;
  /** The label of its field. */
  readonly title: string;
  /** Its sentence in the configuration reference. */
  readonly description: string;
  /** A sentence below its field. */
  readonly hint?: string;
  /** The word `none` is accepted in its place. */
  readonly mayBeNone: boolean;
  /** A text of several lines (a JSON file, or its path), which `credentials` may be alone. Absent: visible ASCII. */
  readonly document?: true;
}

/**
 * A place where credentials are found at run time, written as `credentials: chain`: variables, files and metadata
 * servers of this machine. Only the configuration file may name one.
 */
export interface CredentialSource {
  readonly word: string;
  readonly title: string;
  /** What it is, as a phrase of the configuration reference. */
  readonly description: string;
}

/** A member of a kind that is no secret: a region, a project, a version of the API. */
export interface SettingMember {
  readonly name: string;
  /** The label of its field. */
  readonly title: string;
  /** Its sentence in the configuration reference. */
  readonly description: string;
  /** The texts that it accepts, and the same in words: `a region such as eu-central-1`. */
  readonly pattern: RegExp;
  readonly expected: string;
  /** A sentence below its field. Absent: says what is expected. */
  readonly hint?: string;
  /** Its only values, for a choice in the form. Absent: a text. */
  readonly options?: readonly string[];
}

/** The members of a provider's configuration as given. */
export interface GivenProvider {
  /** The names of the given members. */
  readonly members: ReadonlySet<string>;
  /** The preset that is named by `preset`, or that has the kind's name; null: none. */
  readonly preset: Preset | null;
  /** Those of one credential. */
  readonly secrets: Secrets;
  readonly source: string | null;
  readonly settings: Settings;
}

/** A problem with a member of a provider's configuration. */
export interface MemberFault {
  readonly member: string;
  readonly found: string;
  readonly expected: string;
  readonly advice: string;
}

/** What a request asks of a provider: an answer in one piece, a stream, or the number of prompt tokens. */
export type Operation = 'plain' | 'stream' | 'count_tokens';

/** A request before it is sent; the address and the credential are the upstream's. */
export interface UpstreamRequest {
  readonly protocol: UpstreamProtocolName;
  readonly operation: Operation;
  /** The path below the endpoint of the operation; absent: the endpoint itself. */
  readonly below?: string | undefined;
  /** The client's header lines that the upstream may see, each already validated. */
  readonly headers: readonly HeaderLine[];
  readonly body: Uint8Array;
  readonly object?: ObjectRequest;
  /** What differs from a request and an answer in JSON; absent or null: nothing. */
  readonly form?: RequestForm | null | undefined;
  /** How many answers the body asks for, and whether the client gets them as they come, in its own format. */
  readonly answers: number;
  readonly passes?: boolean;
  /** `req_…`, and the time of the call in unix milliseconds. */
  readonly requestId: string;
  readonly atMs: number;
  /** It goes out on a new connection, because an idle one was closed; else on an idle one, if there is any. */
  readonly fresh?: boolean;
  /** The caller's key refuses a request if any of its members would be dropped. Absent: it does not. */
  readonly strict?: boolean;
  /** When the time of the whole call is over, on the `performance.now()` clock; null: `total` counts from now. */
  readonly endMs?: number | null;
}

/** A request as it goes out, for authorization: nothing changes after it but what `authorize` adds to `headers`. */
export interface FinalRequest {
  readonly method: ObjectRequest['method'];
  /** Scheme, host, path and query. */
  readonly url: string;
  readonly headers: HeaderLine[];
  readonly body: Uint8Array;
}

/** The credential of a request, for its authorization. */
export interface RequestCredential {
  /** The same object for all requests of the credential, until the configuration is loaded again. */
  readonly secrets: Secrets;
  readonly source: string | null;
  readonly settings: Settings;
  /** Has a token removed from the texts of the upstream; to be called before the token is used, at each request. */
  hide(token: Secret): void;
}

interface KindBase {
  /** The value of `kind:`. */
  readonly name: string;
  /** The label in the console, for a kind without a preset of its name. */
  readonly title: string;
  /** What it speaks: a phrase of the configuration reference. */
  readonly speaks: string;
  /** All formats that it speaks. */
  readonly protocols: readonly UpstreamProtocolName[];
  /** The formats of one of its models, at least one. Absent: all of them. */
  protocolsOf?(model: string, settings: Settings): readonly UpstreamProtocolName[];
  /** Its deviations, unless a preset lists others. */
  readonly quirks: ProviderQuirks;
  /** The configuration members that it takes besides `kind` and its secrets. */
  readonly takes: ReadonlyArray<'preset' | 'base_url' | 'timeouts'>;
  readonly secrets: readonly SecretMember[];
  /** Absent: every credential has secrets of its own. */
  readonly sources?: readonly CredentialSource[];
  readonly settings: readonly SettingMember[];
  /** How the records of a response are cut. */
  framing(protocol: UpstreamProtocolName, operation: Operation, model: string): Framing;
  /** Checks its own members with each credential of the pool. Members that it does not take were refused before. */
  checkConfig(given: GivenProvider): readonly MemberFault[];
  /** What it accepts in translated chat-completions requests. `reasons` null: unknown. */
  chatTraits(quirks: ChatQuirks, model: string, reasons: boolean | null): ChatTraits;
  /** Which of Google's doors it is, for translated requests in Gemini's format; absent: AI Studio, or another format. */
  readonly geminiPlatform?: GeminiTraits['platform'];
  /** What the settings say for requests in Bedrock's Converse; absent: nothing. */
  converseTraits?(settings: Settings): ConverseTraits;
  /** Whose model it hosts under that name; null: it is not known. Absent: the kind hosts no models of others. */
  hostedModel?(model: string, settings: Settings): HostedModel | null;
  /** The vendor's own host or domain, if other hosts of this kind only imitate the vendor's format; null: no such host. */
  readonly vendorHost: string | null;
}

/** One service of a provider: its address, and the form of requests to it. */
export interface Door {
  /** The address that follows from the settings, if none is configured; null: none does. Absent: the preset's. */
  addressOf?(settings: Settings): string | null;
  /** The path and query after the base address; null: the operation does not exist there. */
  endpoint(protocol: UpstreamProtocolName, operation: Operation, model: string, settings: Settings): string | null;
  /** The `accept` header. Absent: an event stream for streams, else JSON. */
  accept?(protocol: UpstreamProtocolName, operation: Operation): string;
  /**
   * Changes a request of its format to the form that the kind takes (members of the body, headers), before it is
   * authorized. Absent: nothing differs.
   */
  prepare?(request: UpstreamRequest, model: string, settings: Settings): UpstreamRequest;
  /**
   * Authorizes a request by its final form (a signature, an exchanged token): adds header lines. Absent: `headers`
   * authorizes, and no request waits. A fault becomes `upstream_credential`; its message must not contain a secret.
   */
  authorize?(request: FinalRequest, credential: RequestCredential): Promise<void> | void;
}

/** What a kind needs to make the exchanges of one attempt itself. */
export interface AttemptTools {
  /** The target in what is learned about it: `Upstream.key`. */
  readonly key: string;
  readonly model: string;
  readonly credential: RequestCredential;
  /** Of each response, and of all that make one answer. */
  readonly responseBytesMax: number;
  /** Sends the request through a door; a configured address replaces that of every door. `authorize`: not the door's. */
  send(door: Door, request: UpstreamRequest, authorize?: Door['authorize']): OpenExchange;
}

/** A list of models: the path after the base address of its door, and headers beyond those of `headers`. */
export interface Listing extends ListPages {
  readonly path: string;
  readonly headers: readonly HeaderLine[];
  /** Absent: the kind itself. */
  readonly door?: Door;
}

/** A kind of provider that is reached over HTTP; its main door. */
export interface RemoteKind extends KindBase, Door {
  readonly local: null;
  /** Puts a configured address into the form that `endpoint` continues. */
  completeBaseUrl(url: string): string;
  /**
   * The secrets name files or addresses of their own. Like a source, such a credential may only be in the configuration
   * file, and its provider has an address of `vendorDomains` or of `server.private_origins`. Absent: they never do.
   */
  isAmbient?(secrets: Secrets): boolean;
  /**
   * The settings that a credential names (its project) and, where `usesMachine`, the variables and files of this machine
   * (`AWS_REGION`), for those that are not given. Absent: none.
   */
  findSettings?(credential: Pick<Credential, 'secrets' | 'source'>, usesMachine: boolean): Settings;
  /** The domains that an ambient credential is for. Absent: none. */
  readonly vendorDomains?: readonly string[];
  /** The region of its addresses, for records. Absent: the kind has no regions. */
  regionOf?(settings: Settings): string;
  /** The objects that clients may create there. Absent: none. */
  readonly objects?: ObjectPaths;
  readonly listing: Listing;
  /** The list that this credential may see. Absent: `listing`. */
  listingOf?(credential: Pick<Credential, 'secrets' | 'source'>, settings: Settings): Listing;
  /** The headers of every request, with a credential that does not depend on the request; rendered once for each. */
  headers(secrets: Secrets, settings: Settings): readonly HeaderLine[];
  /** Makes the exchanges of an attempt. Absent: one, through the kind itself. */
  openAttempt?(request: UpstreamRequest, tools: AttemptTools, listener: ExchangeListener): UpstreamTap;
}

/** A kind that answers inside the gateway: without address, credential, time limits or costs. */
export interface LocalKind extends KindBase {
  readonly local: {
    readonly models: readonly string[];
    openExchange(request: UpstreamRequest, listener: ExchangeListener): UpstreamTap;
  };
}

export type ProviderKind = RemoteKind | LocalKind;

/** A well-known provider, as data (presets.ts). */
export interface Preset {
  /** The value of `preset:`, and the name of a provider found in the environment. */
  readonly name: string;
  readonly title: string;
  readonly kind: RemoteKind;
  /** `/chat/completions` (or `/messages`) follows. With a name in braces, each account has an address of its own. */
  readonly baseUrl: string;
  /** The vendor's page about it, and when it was read. */
  readonly source: string;
  /** Environment variables with its `api_key`, the first one set wins; empty: the provider takes no credential. */
  readonly credentialVariables: readonly string[];
  /** Environment variable that the vendor's own SDK reads for another address; null: none. */
  readonly baseUrlVariable: string | null;
  /** The catalog's name of the provider; null: its models are not in the catalog. */
  readonly catalogProvider: string | null;
  readonly quirks: ProviderQuirks;
  /** Output limits that a vendor's own host is known to honor; its responses prove others. Decision 0025. */
  readonly provenLimits: readonly OutputLimitMember[];
  /** Open requests at once to each of its models, for a server on this machine; null: any number. */
  readonly maxConcurrency: number | null;
}

/** Time limits of one upstream attempt (`totalMs`: of the whole call), all in milliseconds. */
export interface Timeouts {
  readonly connectMs: number;
  readonly firstByteMs: number;
  readonly firstBytePlainMs: number;
  readonly idleMs: number;
  readonly totalMs: number;
}

interface ProviderBase {
  readonly name: string;
  /** Absent: nothing is shared. */
  readonly shared?: ProviderState['shared'];
  readonly quirks: ProviderQuirks;
  /** The catalog's name of this provider, used to find prices and model names; null: the catalog does not know it. */
  readonly catalogProvider: string | null;
  /** Output limits that it is known to honor: those of a preset at the preset's own address. */
  readonly provenLimits: readonly OutputLimitMember[];
  /** Open requests at once to each of its models, unless a target says otherwise; null: any number. */
  readonly maxConcurrency: number | null;
}

/** A provider that answers calls over the network. */
export interface RemoteProvider extends ProviderBase {
  readonly kind: RemoteKind;
  /** No trailing slash; the kind's endpoints follow. */
  readonly baseUrl: string;
  /** The only origin (`https://host:port`) that the secrets may be sent to, and the credentials. */
  readonly credentials: { readonly origin: string; readonly pool: CredentialPool };
  readonly settings: Settings;
  readonly timeouts: Timeouts;
  /** Its host must resolve to public addresses only; absent for those from a file or a variable: not checked. */
  readonly publicOnly?: true;
}

/** A provider inside the gateway. */
export interface LocalProvider extends ProviderBase {
  readonly kind: LocalKind;
  readonly baseUrl: null;
  readonly credentials: null;
  readonly timeouts: null;
}

export type Provider = RemoteProvider | LocalProvider;

/** A model of a provider. */
export interface ProviderModel {
  readonly provider: Provider;
  /** The model's name at the provider. */
  readonly model: string;
  /** The provider's, overridden by the target's own; null for a local provider. */
  readonly timeouts: Timeouts | null;
  /** As `formatsOfModel`. Absent: null. */
  readonly endpoints?: readonly ClientProtocolName[] | null;
}

/** A credential as the choice among several sees it. */
export interface UpstreamCredential extends Pick<Credential, 'name' | 'weight' | 'organisation'> {
  /** Identifies the credential in the states of routing: it changes with the secret, address and settings. Not a secret. */
  readonly key: string;
}

/** Sends requests to the model of one target. */
export interface Upstream {
  readonly provider: string;
  readonly model: string;
  /** The region that it is addressed in. Absent: its kind has none. */
  readonly region?: string | undefined;
  /** The formats it speaks; a call in another one is translated. */
  readonly protocols: readonly UpstreamProtocolName[];
  /** The format of a call to it, by the client's. */
  readonly protocolFor: UpstreamProtocols;
  /** How the records of a response are cut. */
  framing(protocol: UpstreamProtocolName, operation: Operation): Framing;
  /** Identifies the target in the states of routing: with another address or setting of the provider, no bench remains. */
  readonly key: string;
  /** Where its connections go (`https://host:port`); the provider's name for one inside the gateway. */
  readonly origin: string;
  /** Null: it is inside the gateway. */
  readonly timeouts: Timeouts | null;
  /** Those that may be used for the model, in the order of the configuration. */
  readonly credentials: readonly [UpstreamCredential, ...UpstreamCredential[]];
  /** To be removed from its texts: those of all credentials and the tokens that they were exchanged for. It grows. */
  readonly secrets: readonly Secret[];
  /** The provider accepts `stream_options.include_usage`. */
  readonly takesUsageOption: boolean;
  /** The provider may answer with another model than the requested one, which its answers name. Absent: it does not. */
  readonly answersAsOther?: boolean | undefined;
  readonly state: ProviderState;
  /** Output limits that the provider is known to honor before any response has shown it. */
  readonly provenLimits: readonly OutputLimitMember[];
  /** Nothing about its output limits needs proof. */
  readonly alwaysHonorsLimits: boolean;
  /** Starts one exchange, authorized by `credentials[credential]`. A response above `responseBytesMax` is a failure. */
  openExchange(
    request: UpstreamRequest,
    credential: number,
    responseBytesMax: number,
    listener: ExchangeListener,
  ): UpstreamTap;
}
