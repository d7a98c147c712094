/** Shows a subject's caps in both layers: the one that the caller's changes apply to, and the other. */
import { OPERATOR_ACCOUNT } from '../../people/roles.ts';
import { type Caps, inLayer, type LimitLayer, type Subject } from '../../store/ports/limits.ts';
import type { Tenancy } from '../kernel/actor.ts';
import { type ShownCaps, showCaps } from './caps-of-body.ts';

export interface ShownLayers {
  readonly layer: LimitLayer;
  readonly caps: ShownCaps;
  /** The caps of the other layer; null: the subject has one layer only. */
  readonly other_caps: ShownCaps | null;
}

/** The layer that the caller's changes apply to: the operator's for operators of the installation. */
export function layerFor(tenancy: Pick<Tenancy, 'account' | 'may'>): LimitLayer {
  return tenancy.account === OPERATOR_ACCOUNT || tenancy.may('operator.write') ? 'operator' : 'account';
}

export function showLayers(
  rules: { get(subject: Subject): Caps | null },
  subject: Subject,
  tenancy: Pick<Tenancy, 'account' | 'may'>,
): ShownLayers {
  const layer = layerFor(tenancy);
  const other = layer === 'operator' ? 'account' : 'operator';
  const isSingle = tenancy.account === OPERATOR_ACCOUNT || subject.kind === 'model';
  if (isSingle) return { layer: 'operator', caps: showCaps(rules.get(inLayer(subject, 'operator'))), other_caps: null };
  return {
    layer,
    caps: showCaps(rules.get(inLayer(subject, layer))),
    other_caps: showCaps(rules.get(inLayer(subject, other))),
  };
}
