/**
 * Chooses what a command's caps change: the rule of a subject in one layer, where they change it at all. The people of an
 * account reach their own layer only; so nothing that they set, lift or move loosens a rule of the operator's.
 */
import { isDeepStrictEqual } from 'node:util';
import { type Caps, inLayer, type LimitLayer, type Subject } from '../store/limits-port.ts';
import type { PolicyChange } from '../store/policy-port.ts';
import { changeCaps, type GivenCaps, namesCaps } from './caps-arguments.ts';
import { CommandFailure, type CommandRun, type ControlContext } from './command.ts';

/** The account whose people run the installation: its rules are the operator's. */
export const HOUSE = 'default';

/** The caps of a subject in both layers; both bind. */
export type LayeredCaps = Readonly<Record<LimitLayer, Caps | null>>;

/** No caps, as of a subject that is not there yet. */
export const NO_LAYERED_CAPS: LayeredCaps = { operator: null, account: null };

export interface RuleChange {
  /** None or one. */
  readonly changes: readonly PolicyChange[];
  /** The layer that was changed, or would be. */
  readonly layer: LimitLayer;
  /** What binds the subject afterwards. */
  readonly caps: LayeredCaps;
}

export function layeredCapsOf({ limits }: Pick<ControlContext, 'limits'>, subject: Subject): LayeredCaps {
  return {
    operator: limits.get(inLayer(subject, 'operator')),
    account: limits.get(inLayer(subject, 'account')),
  };
}

/**
 * The change of a subject's rule that the given caps ask for; none where it stays as it is, for a rule that is put anew
 * has its budget looked up anew. `account`: whose the subject is; null: everybody's, as a model.
 *
 * @throws CommandFailure as `changeCaps`, and where the layer is not that of who asks.
 */
export function chooseRuleChange(
  run: CommandRun,
  subject: Subject,
  account: string | null,
  given: GivenCaps & { readonly layer?: LimitLayer | undefined },
): RuleChange {
  const layer = chooseLayer(run, account, given);
  const target = inLayer(subject, layer);
  const before = run.limits.get(target);
  const after = changeCaps(before, given);
  const caps = { ...layeredCapsOf(run, subject), [layer]: after };
  return {
    layer,
    caps,
    changes: isDeepStrictEqual(before, after) ? [] : [{ of: 'rule', subject: target, caps: after }],
  };
}

function chooseLayer(
  { by }: CommandRun,
  account: string | null,
  given: GivenCaps & { readonly layer?: LimitLayer | undefined },
): LimitLayer {
  if (account === HOUSE) return given.layer ?? 'operator';
  if (by.authority === 'operator') return account === null ? 'operator' : (given.layer ?? 'operator');
  if ((account === null && namesCaps(given)) || given.layer === 'operator') {
    throw new CommandFailure(
      'layer: found the limits that the operator of this gateway set, which nobody of the account changes; ask whoever runs it',
      'forbidden',
    );
  }
  return 'account';
}
