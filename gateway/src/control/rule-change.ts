/** Owns what a command's caps change: the rule of a subject, where they change it at all. Keeps nothing. */
import { isDeepStrictEqual } from 'node:util';
import type { Caps, Subject } from '../store/limits-port.ts';
import type { PolicyChange } from '../store/policy-port.ts';
import { changeCaps, type GivenCaps } from './caps-arguments.ts';
import type { ControlContext } from './command.ts';

export interface RuleChange {
  /** None or one. */
  readonly changes: readonly PolicyChange[];
  /** What binds the subject afterwards. */
  readonly caps: Caps | null;
}

/**
 * The change of a subject's rule that the given caps ask for; none where it stays as it is, for a rule that is put anew
 * has its budget looked up anew. @throws CommandFailure as `changeCaps`.
 */
export function chooseRuleChange({ limits }: ControlContext, subject: Subject, given: GivenCaps): RuleChange {
  const before = limits.get(subject);
  const caps = changeCaps(before, given);
  return { caps, changes: isDeepStrictEqual(before, caps) ? [] : [{ of: 'rule', subject, caps }] };
}
