/**
 * Leaves out of a request what its upstream refuses, reported to the caller, and remembers for one hour which members an
 * upstream does not know, so that not every request has to find out again. A finding applies only to the workspace whose
 * requests made it until a second workspace finds the same: a caller must not change what others send. In memory only.
 */

import type { GenerationRequest } from '../../generation/request.ts';
import type { TranslationNotes } from '../../protocols/request/translation-notes.ts';
import type { GenerationUpstream } from '../../protocols/upstream-protocol.ts';
import type { ChatTraits, UpstreamTraits } from '../../protocols/upstream-traits.ts';
import type { Upstream } from '../../providers/provider.ts';
import type { Target } from '../../routing/route.ts';

interface Entry {
  /** The last workspace that found it. */
  workspace: string;
  untilMs: number;
  /** Until then it applies to every workspace. */
  forAllUntilMs: number;
}

const KEPT_MS = 3_600_000;
/** Beyond this the oldest target is dropped; each has at most the members of a closed list. */
const TARGETS_MAX = 10_000;
const NONE: readonly string[] = [];

export class RefusedMembers {
  readonly #targets = new Map<string, Map<string, Entry>>();

  /** Notes that upstream refused a request of the workspace because of this unknown member, and answered without it. */
  note(upstream: Upstream, member: string, workspace: string, nowMs: number): void {
    const members = this.#membersOf(upstream.key);
    const entry = members.get(member);
    if (entry === undefined) {
      members.set(member, { workspace, untilMs: nowMs + KEPT_MS, forAllUntilMs: 0 });
      return;
    }
    if (entry.workspace !== workspace && entry.untilMs > nowMs) entry.forAllUntilMs = nowMs + KEPT_MS;
    entry.workspace = workspace;
    entry.untilMs = nowMs + KEPT_MS;
  }

  /** The members not to send to the upstream for the workspace. */
  of(upstream: Upstream, workspace: string, nowMs: number): readonly string[] {
    if (this.#targets.size === 0) return NONE;
    const members = this.#targets.get(upstream.key);
    if (members === undefined) return NONE;
    const refused: string[] = [];
    for (const [member, entry] of members) {
      const isOwn = entry.workspace === workspace && entry.untilMs > nowMs;
      if (isOwn || entry.forAllUntilMs > nowMs) refused.push(member);
    }
    return refused;
  }

  #membersOf(target: string): Map<string, Entry> {
    const kept = this.#targets.get(target);
    if (kept !== undefined) return kept;
    const [oldest] = this.#targets.keys();
    if (oldest !== undefined && this.#targets.size >= TARGETS_MAX) this.#targets.delete(oldest);
    const members = new Map<string, Entry>();
    this.#targets.set(target, members);
    return members;
  }
}

/** Returns the same object if nothing was refused. */
export function adaptTarget(target: Target, workspace: string, nowMs: number, refused: RefusedMembers): Target {
  const refuses = refused.of(target.upstream, workspace, nowMs);
  if (refuses.length === 0) return target;
  return { ...target, refuses, traits: refuses.reduce(traitsWithout, target.traits) };
}

type ChatLimit = ChatTraits['outputLimitMember'];

const OTHER_LIMIT: { readonly [member in ChatLimit]: ChatLimit } = {
  max_tokens: 'max_completion_tokens',
  max_completion_tokens: 'max_tokens',
};

/** Members that an upstream's refusal may name, so that the request is sent without them or in another form. */
export function omissible({ optionalMembers, replaceableMembers }: GenerationUpstream): ReadonlySet<string> {
  return new Set([...Object.keys(optionalMembers), ...replaceableMembers]);
}

/**
 * Adapts the traits to an upstream that does not know a member: it takes the other limit, no `stop` (the gateway looks
 * for the stop texts in the answer), no effort. Returns the same object if nothing changes.
 */
export function traitsWithout(traits: UpstreamTraits, member: string): UpstreamTraits {
  const { chat, messages } = traits;
  if (member === chat.outputLimitMember) {
    return { ...traits, chat: { ...chat, outputLimitMember: OTHER_LIMIT[chat.outputLimitMember] } };
  }
  if (member === 'stop') return { ...traits, chat: { ...chat, stopMax: 0 } };
  if (member === 'stream_options') return { ...traits, chat: { ...chat, usageOption: false } };
  if (member === 'reasoning_effort') {
    return { ...traits, chat: { ...chat, efforts: [] }, messages: { ...messages, effort: [] } };
  }
  return traits;
}

/** The request without the features that the members render; the notes get the caller's names for them. */
export function requestWithout(
  request: GenerationRequest,
  members: readonly string[],
  { optionalMembers }: GenerationUpstream,
  notes: TranslationNotes,
): GenerationRequest {
  let left = request;
  for (const member of members) {
    const feature = Object.hasOwn(optionalMembers, member) ? optionalMembers[member] : undefined;
    // The traits cover these; the renderer reports the member or keeps the part that it can render.
    if (feature === undefined || member === 'reasoning_effort') continue;
    if (left[feature as keyof GenerationRequest] === null) continue;
    notes.drop(request.named[feature] ?? feature, 'the host of the model refuses it');
    left = { ...left, [feature]: null };
  }
  return left;
}
