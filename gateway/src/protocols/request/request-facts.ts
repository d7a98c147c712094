/** Defines the facts of a checked request that the call pipeline needs, independent of its protocol. */
import type { Limits } from '../../config/limits.ts';
import type { JsonNode, JsonOutline } from '../../wire/json-node.ts';
import type { OutputLimitMember } from './output-limit.ts';
import type { PricedMembers } from './priced-members.ts';

/** Media and server-side tools of a request. */
export interface RequestExtras {
  /** The input has audio, images or documents: any of it may be priced as such. */
  readonly mediaInput: boolean;
  /** The answer may have audio or images: any of the output may be priced as such. */
  readonly mediaOutput: boolean;
  /** Allowed requests of server-side tools, by kind. */
  readonly toolRequests: ReadonlyMap<string, number>;
}

export interface RequestFacts {
  readonly model: string;
  /** The value of `model` in the body, to replace it if upstream uses another name. */
  readonly modelNode: JsonNode;
  readonly stream: boolean;
  /** The client asked for the usage chunk (chat) or gets usage anyway (messages). */
  readonly wantsUsage: boolean;
  readonly endUser: string | null;
  /** Bytes of the body without its images, audio and documents; tokens are estimated from it. */
  readonly inputBytes: number;
  /** The number of images, audio parts and documents. */
  readonly mediaParts: number;
  /** Maximum tokens of one answer; null: the caller set none. */
  readonly outputTokensMax: number | null;
  /** The member that sets it; of two, the one that applies. Null: none. */
  readonly outputLimitMember: OutputLimitMember | null;
  /** The value of the format's other member if both were sent: upstream gets only one. Null: one or none was sent. */
  readonly otherLimit: number | null;
  /** Some provider may read another limit from an unknown member: proven provider behavior does not apply here. */
  readonly mayChangeLimit: boolean;
  /** The number of requested answers (`n`): each is paid for. */
  readonly answers: number;
  /** Undefined: text only. */
  readonly extras: RequestExtras | undefined;
  /** Members that name other models or change the price; absent: none. */
  readonly priced?: PricedMembers | undefined;
}

export interface CheckContext {
  readonly limits: Limits;
  /** The caller's version of the format; null: it has none. */
  readonly version: string | null;
  /** A token-counting request gets no answer: `max_tokens` is not required. */
  readonly countOnly: boolean;
}

/** Checks type and range of the founding specification's members; unknown members pass. Throws CallFailure. */
export type RequestCheck = (outline: JsonOutline, context: CheckContext) => RequestFacts;
