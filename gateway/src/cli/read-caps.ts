/** Owns reading the caps of all subjects of a kind, for a command that only looks. */
import type { Caps, SubjectKind } from '../store/limits-port.ts';
import type { PolicyReader } from '../store/policy-port.ts';

/** Answers the caps of a subject of the kind by its id; null: none. */
export async function readCapsOf(
  reading: Pick<PolicyReader, 'readLimitRules'>,
  kind: SubjectKind,
): Promise<(id: string) => Caps | null> {
  const rules = (await reading.readLimitRules()).filter(({ subject }) => subject.kind === kind);
  const capsById = new Map(rules.map(({ subject, caps }) => [subject.id, caps]));
  return (id) => capsById.get(id) ?? null;
}
