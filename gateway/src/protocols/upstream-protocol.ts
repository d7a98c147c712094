/** Defines the half of a wire format that providers use: writes requests to them, reads their answers and errors. */
import type { StreamRecord } from '../framing/framing.ts';
import type { GenerationEvent } from '../generation/event.ts';
import type { Feature, GenerationRequest } from '../generation/request.ts';
import type { TierWords, Usage, UsageFlag } from '../generation/usage.ts';
import type { JsonOutline } from '../wire/json-node.ts';
import type { JsonEdit } from '../wire/json-splice.ts';
import type { UpstreamError } from './answer/error-body.ts';
import type { GenerationUpstreamName, UpstreamProtocolName } from './names.ts';
import type { OutputLimitMember, RequestFacts } from './request/request-facts.ts';
import type { ToolNames } from './request/tool-names.ts';
import type { FeatureFates, TranslationNotes } from './request/translation-notes.ts';
import type { StoredKind } from './stored/stored-references.ts';
import type { UpstreamTraits } from './upstream-traits.ts';

/** Facts read from an answer. `usage` is null if upstream gave none that is valid, or none for the whole answer. */
export interface AnswerFacts {
  readonly usage: Usage | null;
  /** Anomalies of `usage`, as far as its own numbers show them. */
  readonly usageFlags: readonly UsageFlag[];
  /** Upstream's counts so far, for a stream that ends early; null: none. */
  readonly usageSoFar: Usage | null;
  readonly finish_reason: string | null;
  readonly model: string | null;
  /** The tier that the answer states, including standard tiers; absent: none stated, or a translated answer. */
  readonly tier?: TierWords | undefined;
  /** The token in a refusal that makes the retry on another model cheaper. */
  readonly retryToken?: string | undefined;
  /** UTF-8 bytes of generated text, arguments and reasoning; 0 for a non-streamed answer if not `isTextCounted`. */
  readonly outputBytes: number;
  /** The part of `outputBytes` that is reasoning. */
  readonly reasoningBytes: number;
  /** Upper bound of `outputBytes`, counted or not: for a non-streamed answer the whole body. */
  readonly outputBytesMax: number;
  /** The part of `outputBytes` received when upstream reported `usageSoFar`, if it did so in mid-stream. */
  readonly outputBytesReported?: number;
  /** The gateway's own count where the answer reports no usage, if it is better than one of its bytes. */
  readonly counted?: Partial<Pick<Usage, 'output' | 'extras'>>;
  /** The least that the sound of the request lasts, where the answer states no duration. Absent: unknown. */
  readonly leastSeconds?: number;
  /** What the host keeps of the answer if it keeps state: ids that later requests may name. Absent: nothing. */
  readonly stored?: readonly StoredObject[] | undefined;
}

/** Something that a provider keeps, by its id. */
export interface StoredObject {
  readonly kind: StoredKind;
  readonly id: string;
  /** Unix ms; absent: as long as the provider keeps responses. */
  readonly expiresAtMs?: number;
}

/** The response that a stream began, and the number of its next event; null: its events have no numbers. */
export interface StreamPosition {
  readonly id: string;
  readonly model: string | null;
  readonly createdSeconds: number;
  readonly nextSequence: number | null;
}

/**
 * What a non-streamed 200 really is: an answer, an error with the status that it names, or malformed.
 * `facts` of the last two: the body reports usage anyway, and upstream will bill it.
 */
export type AnswerReading =
  | { readonly kind: 'answer'; readonly facts: AnswerFacts }
  | {
      readonly kind: 'error';
      readonly type: string;
      readonly status: number | null;
      readonly message: string;
      readonly facts?: AnswerFacts | undefined;
    }
  | {
      readonly kind: 'malformed';
      readonly message: string;
      readonly facts?: AnswerFacts | undefined;
      /** It is an answer that is still being made. */
      readonly isUnfinished?: true;
    };

/**
 * How to handle one record of a stream: `pass` it on; `silent`: pass it on, it carries nothing (a ping); `withhold` it
 * (a usage chunk that the client did not ask for, or a record without an event in the client's format); `replace` it
 * with `replacement`; `terminal`: the protocol's own end; `error`: upstream failed in mid-stream; `error_rest`: the
 * record belongs to that failure.
 */
export type RecordVerdict =
  | 'pass'
  | 'silent'
  | 'withhold'
  | 'replace'
  | 'terminal'
  | 'error'
  | 'error_rest'
  | 'malformed';

/** Observes the records of one stream. Changes them only through its verdicts. */
export interface StreamObserver {
  /** The client gets only `replacement`, none of upstream's bytes: the two sides use different formats. */
  readonly rewrites: boolean;
  /**
   * Whether a content event was read: text, reasoning, a call, a refusal, or the finish reason of an answer without
   * them. Not before: the start of the answer, an empty block, a role, a ping. Records that `skim` passes follow one.
   */
  readonly begun: boolean;
  /**
   * The end of the consecutive records from `start` (the beginning of a record) on that need no inspection; `start` if
   * no such records follow. They are passed on, or sent as `replacement` if the observer rewrites.
   */
  skim(bytes: Uint8Array, start: number): number;
  /** Where `skim` would end, and the output that it would count there. Changes nothing. */
  preview(bytes: Uint8Array, start: number): { readonly end: number; readonly outputBytes: number };
  /** Inspects a record that has data. */
  observe(record: StreamRecord): RecordVerdict;
  /** Sent instead of the last record after the verdict `replace`; if the observer rewrites, after `terminal` too. */
  readonly replacement: Buffer | null;
  /** Upstream's error status, type and message after the verdict `error`. */
  readonly failure: { readonly type: string; readonly message: string; readonly status: number | null } | null;
  /** Called once if the bytes ended normally without the protocol's own end: completes the stream; null: it was cut. */
  endOfBytes(): Buffer | null;
  /** The number of inspected events out of the order of upstream's format; if the observer rewrites, of the client's. */
  readonly protocolViolations: number;
  /** Where the stream is, for an error that continues it; absent: nothing began, or errors need no such thing. */
  readonly position?: StreamPosition | undefined;
  facts(): AnswerFacts;
}

export interface ObserverSettings {
  /** As in the facts of the request. */
  readonly binary?: string | undefined;
  readonly sound?: string | undefined;
  /** The gateway asked for usage, not the client: the chunk that carries it is withheld. */
  readonly withholdUsage: boolean;
  /** The id for a stream whose chunks carry none. */
  readonly fallbackId: string;
}

/**
 * Folds the records of a stream into the non-streamed answer that the same call would have got. Carries unknown
 * members. Rounds numbers that a double cannot hold, except within arguments and untouched blocks of messages.
 */
export interface AnswerFold {
  /** Adds a record that the observer of the same stream did not find to be an error. */
  push(record: StreamRecord): void;
  /**
   * The JSON of the answer. `cut`: the stream was stopped before its end; then the finish reason is `cutReason`, and
   * these are its counters. Throws CallFailure `upstream_malformed` if the records are not an answer.
   */
  finish(cut: Usage | null): string;
}

/** A request for upstream, and what must be undone in its answer. */
export interface RenderedRequest {
  readonly json: string;
  readonly tools: ToolNames;
  /** The output format is requested through a tool of this name, whose arguments are the answer; null: no such tool. */
  readonly outputTool: string | null;
  /** JSON was requested by instructions alone: the gateway strips the text around it. */
  readonly extractsJson: boolean;
  /** The answer may begin with reasoning between `<think>` tags. Absent: it does not. */
  readonly thinkTags?: boolean;
  /** Stop sequences that upstream does not accept: the gateway looks for them in the answer. */
  readonly stopTexts: readonly string[];
}

/** Parses one upstream stream; synchronous. Returns no events after an `error`, `malformed` or `end`. */
export interface StreamParser {
  /** Parses a record that has data. */
  push(record: StreamRecord): readonly GenerationEvent[];
  /** Text of the open part, which was copied without the parser. Absent: it keeps nothing of the texts. */
  skipped?(text: string): void;
  /** Called when the bytes ended normally. If only the format's own end is missing: events up to `end`; else none. */
  finish(): readonly GenerationEvent[];
  /** The last `usage` event covers the whole answer: it came with its end or after it. */
  readonly isUsageFinal: boolean;
}

/** Header lines of a request, in addition to those of every request. */
export type HeaderLines = ReadonlyArray<readonly [name: string, value: string]>;

/** Handles calls whose client uses the same format: bytes pass through. */
export interface PassThrough {
  /** The client's header lines that upstream gets. `version`: as `ClientProtocol.readVersion` returned it. */
  forwardHeaders(headers: Headers, version: string | null): HeaderLines;
  /**
   * The body without the reasoning in its history whose signature `strips` matches; the same bytes without such reasoning.
   * Null: the format has no signatures.
   */
  readonly stripReasoning: ((body: Uint8Array, strips: (signature: string) => boolean) => Uint8Array) | null;
  /**
   * The body with summaries that the gateway sealed as text; the same bytes without them. `open` gives the text by the sealed
   * content and its place; what it throws is thrown. Absent: the format has none.
   */
  readonly expandSummaries?: (body: Uint8Array, open: (sealed: string, path: string) => string) => Uint8Array;
  /** How the gateway's marks begin in a body of the format; absent: as they are. */
  readonly writtenMark?: string;
  /** The edits that name the model in a body; absent: the member `model`, and `stream` where the gateway streams. */
  nameModel?(outline: JsonOutline, model: string): readonly JsonEdit[];
  /** Null: the format has no streams. */
  readonly startObserver: ((settings: ObserverSettings) => StreamObserver) | null;
  /** `fallbackId`: as in `ObserverSettings`. Null: its streams are not folded, so a plain call is never metered. */
  readonly startFold: ((fallbackId: string) => AnswerFold) | null;
}

/** What every format has. */
interface UpstreamFormat {
  readonly name: UpstreamProtocolName;
  /** Null: no client uses the format. */
  readonly passThrough: PassThrough | null;
  /** The header lines of a request from a client of another format. */
  readonly headers: HeaderLines;
  /** A stream reports its usage only if `stream_options.include_usage` asks for it. */
  readonly reportsUsageOnRequest: boolean;
  /** The member that limits the output of a target with these traits; null: the format has none. */
  outputLimitMember(traits: UpstreamTraits): OutputLimitMember | null;
  /** `bodyBytes`: the length of the body that `answer` was parsed from. */
  readAnswer(answer: unknown, bodyBytes: number): AnswerReading;
  /** An answer of a request whose facts say `plainText`. Absent: there are no such requests. */
  readText?(body: Buffer): AnswerReading;
  /** A non-streamed 200 as the records of the requested stream; null: it is not an answer. `isText`: as for `readText`. */
  streamOfAnswer(body: Buffer, asked: Pick<RequestFacts, 'below'>, isText: boolean): Buffer | null;
  /** `headers`: those of the response; absent: not known. */
  readError(body: Buffer, headers?: HeaderLines): UpstreamError;
}

/** A format of generated answers: its requests and answers are translated from and to the canonical language. */
export interface GenerationUpstream extends UpstreamFormat {
  readonly name: GenerationUpstreamName;
  readonly translates: true;
  outputLimitMember(traits: UpstreamTraits): OutputLimitMember;
  /** Models sign their reasoning and accept each other's signatures; otherwise the gateway marks reasoning itself. */
  readonly signsReasoning: boolean;
  /** Whose signatures its models make, whatever the provider's name; absent: the provider's own. */
  readonly issuer?: string;
  /** Optional members and the feature that each one renders: omitted if a provider refuses it. */
  readonly optionalMembers: { readonly [member: string]: Feature };
  /** Other members that the request can do without, or in another form. */
  readonly replaceableMembers: readonly string[];
  /** How it handles each feature of a request. */
  readonly renderedFeatures: FeatureFates;
  /**
   * Renders the request for an upstream of this format.
   * @throws CallFailure `invalid_request` for what it cannot carry
   */
  renderRequest(request: GenerationRequest, traits: UpstreamTraits, notes: TranslationNotes): RenderedRequest;
  /**
   * Counts the prompt of a translated request by the provider's own counter; absent: such requests are estimated. `json`
   * is the rendered request; `read` returns null for what is no count.
   */
  readonly counting?: {
    render(json: string, traits: UpstreamTraits): string;
    read(body: Buffer): number | null;
  };
  /** The members that carry the text of a stream's deltas. */
  readonly deltaMembers: readonly string[];
  startStreamParser(): StreamParser;
  /** The body of a non-streamed 200 as events, up to `end`; or one `error` or `malformed`. */
  parseAnswer(body: Buffer): readonly GenerationEvent[];
}

/** A checked request of a format that is never translated. */
export interface DirectRequest {
  readonly outline: JsonOutline;
  readonly facts: RequestFacts;
  /** Name the model at the provider, and what both accept. */
  readonly traits: UpstreamTraits;
  /** Collects the members that cannot be carried. */
  readonly notes: TranslationNotes;
}

/** What upstream gets of such a request, and what must be changed in its answer. */
export interface DirectExchange {
  readonly body: Uint8Array;
  /** The client's answer, made of upstream's body of a 200; null: upstream's bytes. Throws CallFailure `upstream_malformed`. */
  readonly renderAnswer: ((body: Buffer) => Buffer | string) | null;
}

/** A format, or a host's form of one, that is never translated. */
export interface DirectUpstream extends UpstreamFormat {
  readonly name: Exclude<UpstreamProtocolName, GenerationUpstreamName>;
  readonly translates: false;
  /**
   * The request for an upstream of this format, from the one of its family's client format.
   * @throws CallFailure `invalid_request` for what it cannot carry
   * Null: the client's bytes, with what must change spliced.
   */
  readonly renderRequest: ((request: DirectRequest) => DirectExchange) | null;
}

export type UpstreamProtocol = GenerationUpstream | DirectUpstream;
