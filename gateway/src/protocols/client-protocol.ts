/** Defines the half of a wire format that clients use: reads their requests, writes their answers and errors. */
import type { CallFailure } from '../errors/call-failure.ts';
import type { GenerationEvent } from '../generation/event.ts';
import type { Generation } from '../generation/generation.ts';
import type { SealedContent } from '../generation/part.ts';
import type { CallForm, GenerationRequest } from '../generation/request.ts';
import type { JsonOutline } from '../wire/json-node.ts';
import type { JsonObject } from './json.ts';
import type { ClientProtocolName, GenerationClientName } from './names.ts';
import type { AskedModel, RequestCheck } from './request/request-facts.ts';
import type { ReadNeeds } from './request/request-needs.ts';
import type { MemberRow, TranslationNotes } from './request/translation-notes.ts';
import type { StreamPosition } from './upstream-protocol.ts';

/** What happens to a response that is kept. */
export interface ResponseKeeping {
  /** The id that the request continues; null: none. */
  readonly previous: string | null;
  /** Called with the whole response object when the answer is complete. */
  end(response: JsonObject): void;
}

export interface AnswerContext {
  /** Without the format's own prefix. */
  readonly id: string;
  readonly createdSeconds: number;
  /** Used if upstream named none. */
  readonly model: string;
  /** The client asked for the usage chunk (chat); messages always has usage. */
  readonly wantsUsage: boolean;
  /** The gateway's estimate of the prompt, used until upstream reports its count. */
  readonly estimatedInputTokens: number;
  /** The client did not ask for reasoning, and its format has no other way to leave it out; absent: it gets what there is. */
  readonly hidesReasoning?: true | undefined;
  /** The client expects reasoning without text: it asked for reasoning, or has tools. Absent: it does not. */
  readonly returnsReasoning?: boolean;
  /** From the request: by the name of a tool, how its calls are written; absent: by their names. */
  readonly callForms?: ReadonlyMap<string, CallForm> | undefined;
  /** The response is kept: its answer says so, and the whole response is handed over at its end. Absent: it is not. */
  readonly keeping?: ResponseKeeping | undefined;
  /** Signs reasoning that came without a signature, so that the gateway recognizes it later: `gw1.…`. */
  sign(reasoning: string): string;
  /** Seals what only this gateway reads when the client sends it back: `gw2.…`. */
  seal(content: SealedContent): string;
}

/** Renders one client stream; synchronous. `ClientProtocol.renderStreamError` renders errors. */
export interface StreamRenderer {
  /** The records for the event, as SSE text; empty: none yet. */
  push(event: GenerationEvent): string;
  /** Deltas of a part were sent without this renderer, in the form of its last one; `text` is their text. */
  skipped(part: number, text: string): void;
  /** The finish reason sent to the client, in its own format; null: not sent yet. */
  readonly finish_reason: string | null;
  /** The records of consecutive deltas of a part differ in more than their texts; absent: in nothing else. */
  readonly isUniform?: false;
  /** Where the stream is, for an error that continues it; absent: errors need no such thing. */
  readonly position?: StreamPosition | undefined;
  /**
   * Why the output of `push` would violate the format's order; then it returned nothing, and only an error may follow.
   * Null: no violation.
   */
  readonly violation: string | null;
}

/** Which member of a limit a header states. */
export type LimitMember = 'limit' | 'remaining' | 'reset';

/** One address of a format's requests. */
export interface ClientEndpoint {
  /** Begins with a slash and follows `/v1`. */
  readonly path: string;
  /** Its requests ask for a token count, not for an answer. */
  readonly countOnly: boolean;
}

/** The model of a request that names none: the first of its format that the caller may use. */
export const DEFAULT_MODEL = '';

/** What every format has. */
interface ClientFormat {
  readonly name: ClientProtocolName;
  /** What its records say instead of its name. Absent: the name. */
  readonly recordedAs?: 'batches';
  readonly endpoints: readonly ClientEndpoint[];
  /** The path that messages name; absent: that of the first endpoint, below `/v1`. */
  readonly shownPath?: string;
  /** The header by which a client states the version of this format; null: there are no versions. */
  readonly versionHeader: string | null;
  /** The version of a request; null: the format has none. Throws CallFailure `invalid_request`. */
  readVersion(headers: Headers): string | null;
  /** The header of the API key besides `authorization`; absent: `x-api-key`. */
  readonly keyHeader?: string;
  /** If a request has both credentials, that header comes before `authorization`. */
  readonly prefersApiKeyHeader: boolean;
  readonly checkRequest: RequestCheck;
  /** The member of a token count in its reply; absent: `input_tokens`. */
  readonly countMember?: string;
  /** The value of the member `object` of that reply; absent: it has none. */
  readonly countObject?: string;
  /** Its requests are forms (multipart/form-data), checked as the JSON of their parts, or may be. Absent: JSON. */
  readonly takesForms?: 'always' | 'or JSON';
  /** Its answers are not stored for idempotency keys, which are refused. Absent: they are. */
  readonly isReplayable?: false;
  /** Its answers and events may have whole images, so they may be larger. Absent: they have not. */
  readonly answersImages?: true;
  /** The format's finish reason for an answer that reached its token limit; null: its answers have none. */
  readonly cutReason: string | null;
  /** The HTTP status of a failure. */
  statusOf(failure: CallFailure): number;
  /** The JSON body of an error response. */
  renderError(failure: CallFailure, requestId: string): string;
  /**
   * The records that end a stream that failed after its first byte. `model`: that was asked for; null: unknown. `position`
   * absent: no part of an answer was sent.
   */
  renderStreamError(failure: CallFailure, requestId: string, model: string | null, position?: StreamPosition): Buffer;
  /** Whether a streamed request that failed before its first byte gets the failure as a stream; absent: none does. */
  failsAsStream?(failure: CallFailure): boolean;
  /** Sent into a silent stream; clients ignore it. */
  readonly keepAlive: Buffer;
  /** The name of the header that states a member of a limit per minute. */
  limitHeader(unit: 'requests' | 'tokens', member: LimitMember): string;
  /** The value of `reset`: the full limit is available again in `leftMs`; `nowMs` is Unix time. */
  renderReset(leftMs: number, nowMs: number): string;
}

/** A format of generated answers: its requests and answers are translated from and to the canonical language. */
export interface GenerationClient extends ClientFormat {
  readonly name: GenerationClientName;
  readonly translates: true;
  readonly cutReason: string;
  /** What becomes of each member of a request; any other member is dropped and reported. */
  readonly requestMembers: readonly MemberRow[];
  /** What a checked request needs of its target, for routes with several. */
  readonly readNeeds: ReadNeeds;
  /**
   * Parses a checked request. `asked`: the facts of its check, for formats whose body does not name them.
   * @throws CallFailure `invalid_request`
   * @throws OutlineFull if a part of the body has too many values
   */
  parseRequest(outline: JsonOutline, notes: TranslationNotes, asked: AskedModel): GenerationRequest;
  /** A stream states the number of input tokens before upstream has reported it. */
  readonly startsWithInputTokens: boolean;
  startStreamRenderer(context: AnswerContext): StreamRenderer;
  /** The JSON of a non-streamed answer. */
  renderAnswer(
    generation: Generation,
    context: AnswerContext,
  ): { readonly json: string; readonly finish_reason: string };
  /** The header by which clients opt in to features that only providers of the format have; absent: not named to the caller. */
  readonly betaHeader?: string;
  /** Its answers have a place for what only the gateway reads when it comes back. */
  readonly carriesSeals: boolean;
  /** Its answers have a place for images that a model made. Absent: they have none. */
  readonly showsImages?: true;
  /** The name by which the caller is told that earlier reasoning was left out. */
  readonly reasoningMember: string;
}

/** A format that is never translated: only providers that speak it, or a form of it, serve its requests. */
export interface DirectClient extends ClientFormat {
  readonly name: Exclude<ClientProtocolName, GenerationClientName>;
  readonly translates: false;
}

export type ClientProtocol = GenerationClient | DirectClient;
