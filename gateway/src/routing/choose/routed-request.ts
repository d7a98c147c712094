/**
 * Describes a call as the choice among targets sees it. Read from the scanned body, never parsed again, and only for
 * routes where something is to choose.
 */
import type { ClientProtocol } from '../../protocols/client-protocol.ts';
import type { RequestFacts } from '../../protocols/request/request-facts.ts';
import { BodyMarks, type CacheMarks, type RequestNeeds } from '../../protocols/request/request-needs.ts';
import type { JsonOutline } from '../../wire/json-node.ts';
import type { Route } from '../route.ts';
import { conversationKey } from './conversation-key.ts';

/** What the choice must know of a call. */
export interface RoutedRequest {
  readonly workspaceId: string;
  readonly keyId: string;
  readonly protocol: ClientProtocol['name'];
  /** Null: the route has one target, which judges for itself, or the format is not translated. */
  readonly needs: RequestNeeds | null;
  readonly marks: CacheMarks;
  /** Data tags that the target must have. */
  readonly tags: readonly string[];
  /** The estimated tokens of the prompt. */
  readonly inputTokens: number;
  /** Null: the caller set no limit. */
  readonly outputTokensMax: number | null;
  /** The conversation (`conversationKey`); null: unknown, or affinity is off. */
  readonly conversation: number | null;
  /** A balance or a budget pays, so that a target without a price cannot be used. */
  readonly mustBePriced: boolean;
  /** Unix ms: the arrival, by which prices apply. */
  readonly atMs: number;
}

/** The parts of a call that `describeRequest` reads. */
export interface RequestSource {
  readonly protocol: ClientProtocol;
  readonly outline: JsonOutline;
  readonly facts: RequestFacts;
  /** The session that a header names; null: none. */
  readonly session: string | null;
  readonly workspaceId: string;
  readonly keyId: string;
  /** The tags that the policy and the request require. */
  readonly tags: readonly string[];
  readonly inputTokens: number;
  readonly mustBePriced: boolean;
  readonly atMs: number;
}

export function describeRequest(route: Route, source: RequestSource): RoutedRequest {
  return new DescribedRequest(route, source);
}

/** Reads the needs and marks of the body when they are first needed: most targets lack nothing that is known. */
class DescribedRequest implements RoutedRequest {
  readonly workspaceId: string;
  readonly keyId: string;
  readonly protocol: RoutedRequest['protocol'];
  readonly marks: CacheMarks;
  readonly tags: readonly string[];
  readonly inputTokens: number;
  readonly outputTokensMax: number | null;
  readonly conversation: number | null;
  readonly mustBePriced: boolean;
  readonly atMs: number;
  readonly #source: RequestSource | null;
  #needs: RequestNeeds | null = null;

  constructor(route: Route, source: RequestSource) {
    this.workspaceId = source.workspaceId;
    this.keyId = source.keyId;
    this.protocol = source.protocol.name;
    this.marks = new BodyMarks(source.outline);
    this.tags = source.tags;
    this.inputTokens = source.inputTokens;
    this.outputTokensMax = source.facts.outputTokensMax;
    this.conversation = conversationKey(route, source);
    this.mustBePriced = source.mustBePriced;
    this.atMs = source.atMs;
    this.#source = route.targets.length === 1 ? null : source;
  }

  get needs(): RequestNeeds | null {
    if (this.#needs === null && this.#source !== null) {
      const { protocol, outline, facts } = this.#source;
      if (protocol.translates) this.#needs = protocol.readNeeds(outline, facts.mediaParts);
    }
    return this.#needs;
  }
}
