/** Owns what a translation could not carry: named to the caller, or refused where his key is strict. Decides no member's fate. */
import { type CallFailure, invalidRequest } from '../../errors/call-failure.ts';

/** Collects while a request is translated. */
export interface TranslationNotes {
  /** The caller's key refuses whatever would be dropped, or only be asked for in words. */
  readonly strict: boolean;
  /** Members that were dropped, in the caller's words, each once, in order. */
  readonly dropped: readonly string[];
  /**
   * The member only advises and cannot be carried. `why` ends the sentence "‹member›: …". Throws `invalid_request` where the
   * caller's key is strict.
   */
  drop(member: string, why: string): void;
}

export function startNotes(strict: boolean): TranslationNotes {
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

/** A refusal that names the member and says why it cannot be sent to this model and what to do. */
export function refuseMember(member: string, why: string): CallFailure {
  return invalidRequest(`${member}: ${why}`, member);
}
