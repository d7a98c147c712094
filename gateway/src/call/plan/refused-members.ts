/**
 * Remembers for one hour which members an upstream does not know, so that not every request has to find out again. A
 * finding applies only to the workspace whose requests made it until a second workspace finds the same: a caller must
 * not change what others send. In memory only.
 */
import type { Upstream } from '../../providers/upstream.ts';

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
    const members = this.#membersOf(nameOf(upstream));
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
    const members = this.#targets.get(nameOf(upstream));
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

/** A provider whose address changes on reload is a different target. */
function nameOf(upstream: Upstream): string {
  return `${upstream.provider} ${upstream.kind === 'demo' ? 'demo' : upstream.origin.key} ${upstream.model}`;
}
