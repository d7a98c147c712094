/** Owns reading the caps of all subjects of a kind, for a command that only looks. */
import { type LayeredCaps, NO_LAYERED_CAPS } from '../control/rule-change.ts';
import { layerOf, type SubjectKind } from '../store/limits-port.ts';
import type { PolicyReader } from '../store/policy-port.ts';

/** Answers the caps of a subject of the kind by its id, in both layers. */
export async function readCapsOf(
  reading: Pick<PolicyReader, 'readLimitRules'>,
  kind: SubjectKind,
): Promise<(id: string) => LayeredCaps> {
  const rules = (await reading.readLimitRules()).filter(({ subject }) => subject.kind === kind);
  const capsById = new Map<string, LayeredCaps>();
  for (const { subject, caps } of rules) {
    const known = capsById.get(subject.id) ?? NO_LAYERED_CAPS;
    capsById.set(subject.id, { ...known, [layerOf(subject)]: caps });
  }
  return (id) => capsById.get(id) ?? NO_LAYERED_CAPS;
}
