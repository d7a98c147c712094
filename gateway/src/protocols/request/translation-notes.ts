/**
 * Defines what may become of a member in a translation, and collects the dropped ones to name them to the caller;
 * refuses them under a strict key.
 */
import { type CallFailure, invalidRequest } from '../../errors/call-failure.ts';
import type { Feature } from '../../generation/request.ts';

export interface TranslationNotes {
  /** The caller's key refuses members that would be dropped, or requested only by instructions. */
  readonly strict: boolean;
  /** Dropped members, by the caller's names, each once, in order. */
  readonly dropped: readonly string[];
  /**
   * Drops a member that is only a hint and cannot be carried. `why` completes the sentence "‹member›: …". Throws
   * `invalid_request` if the caller's key is strict.
   */
  drop(member: string, why: string): void;
}

export function startTranslationNotes(strict: boolean): TranslationNotes {
  const dropped: string[] = [];
  return {
    strict,
    dropped,
    drop(member, why) {
      if (strict)
        throw refuseMember(member, `${why}, and this API key is strict. Leave it out, or use a key that is not`);
      if (!dropped.includes(member)) dropped.push(member);
    },
  };
}

/** An `invalid_request` error that names the member, why it cannot be sent to this model, and what to do. */
export function refuseMember(member: string, why: string): CallFailure {
  return invalidRequest(`${member}: ${why}`, member);
}

/** `emulated`: another way, same effect. `dropped`: named in `x-tollgate-dropped`; refused under a strict key. */
export type Fate = 'carried' | 'emulated' | 'dropped' | 'refused';

/** One member of a client's request in a format. */
export interface MemberRow {
  readonly member: string;
  /** Its canonical member; `turns`, `model` and `stream` are always carried. Null: none, `fate` applies. */
  readonly becomes: Feature | 'turns' | 'model' | 'stream' | null;
  /** Null if `becomes` is set: then the upstream's format decides. */
  readonly fate: Fate | null;
  /** The condition or the reason, in a few words. */
  readonly note: string;
}

/** How an upstream of a format handles each feature of a canonical request: its fate, and perhaps a note. */
export type FeatureFates = { readonly [feature in Feature]: Fate | `${Fate}: ${string}` };

/** The fate of a feature, and its note; empty: none. */
export function readFate(row: FeatureFates[Feature]): { readonly fate: Fate; readonly note: string } {
  const [fate = ''] = row.split(':', 1);
  return { fate: fate as Fate, note: row.slice(fate.length + 2) };
}
