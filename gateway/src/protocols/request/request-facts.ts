/** Owns what the line needs to know of a checked request, whatever its protocol. */
import type { Limits } from '../../config/limits.ts';
import type { JsonNode, JsonOutline } from '../../wire/json-node.ts';
import type { OutputLimitMember } from './output-limit.ts';
import type { PricedMembers } from './priced-members.ts';

/** What a request brings or asks for beside text. */
export interface RequestApart {
  /** Sound, images or documents in it: any of its input may cost as they do. */
  readonly mediaInput: boolean;
  /** Sound or images in its answer: any of the output may cost as they do. */
  readonly mediaOutput: boolean;
  /** Of tools that run upstream, by kind: how many requests it allows. */
  readonly toolRequests: ReadonlyMap<string, number>;
}

export interface RequestFacts {
  readonly model: string;
  /** The value of `model` in the body, for the splice where upstream knows it by another name. */
  readonly modelNode: JsonNode;
  readonly stream: boolean;
  /** The client asked for the usage chunk (chat) or gets usage anyway (messages). */
  readonly wantsUsage: boolean;
  readonly endUser: string | null;
  /** Bytes of the body less its images, audio and documents; what tokens are estimated from. */
  readonly inputBytes: number;
  /** How many images, sounds and documents it holds. */
  readonly mediaParts: number;
  /** The most tokens that one answer may have; null: the caller left it to the model. */
  readonly outputTokensMax: number | null;
  /** The member that says so; of two the one that binds. Null: none does. */
  readonly outputLimitMember: OutputLimitMember | null;
  /** What the format's other member says, where both were sent: upstream gets only one. Null: one was, or none. */
  readonly otherLimit: number | null;
  /** Some hosts may read another limit in a member that the format does not have: nothing proven of a host holds for this call. */
  readonly mayChangeLimit: boolean;
  /** How many answers were asked for at once: each is paid for. */
  readonly answers: number;
  /** Undefined: text alone. */
  readonly apart: RequestApart | undefined;
  /** Members that name other models or change the price; absent: none. */
  readonly priced?: PricedMembers | undefined;
}

export interface CheckContext {
  readonly limits: Limits;
  /** Which version of the messages format the caller speaks; chat has none. */
  readonly version: '2023-06-01' | '2026-10-21';
  /** Counting tokens asks for no answer: `max_tokens` is not required. */
  readonly countOnly: boolean;
}

/** Checks type and range of every member that the founding specification names; unknown members pass. Throws CallFailure. */
export type RequestCheck = (outline: JsonOutline, context: CheckContext) => RequestFacts;
