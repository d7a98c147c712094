/** Makes the changes that take targets and credentials out of rotation, put them back, or remove a credential. */
import type { ProviderChange, RotationSubject, StoredCredential } from '../../store/ports/providers.ts';
import type { CommandRun } from '../command.ts';
import { auditRouting } from './routing-scope.ts';

/** Takes a target or credential out of rotation, or puts it back, with its audit entry. */
export function rotate(run: CommandRun, subject: RotationSubject, isIn: boolean): Promise<void> {
  const { kind, owner, name } = subject;
  const change: ProviderChange = isIn
    ? putBack(subject)
    : { of: 'out_of_rotation', out: { kind, owner, name, sinceMs: run.nowMs() } };
  const audited = { kind, id: kind === 'target' ? `${owner} ${name}` : `${owner}/${name}` };
  return run.routing.book.save([change], auditRouting(run, audited, { in_rotation: !isIn }, { in_rotation: isIn }));
}

/** The change that puts a target or credential back. */
export function putBack({ kind, owner, name }: RotationSubject): ProviderChange {
  return { of: 'out_of_rotation', back: { kind, owner, name } };
}

/** Removes a credential; one of the same name that is added later begins in rotation. */
export function removeCredential({ provider, name }: Pick<StoredCredential, 'provider' | 'name'>): ProviderChange[] {
  return [{ of: 'credential', removed: { provider, name } }, putBack({ kind: 'credential', owner: provider, name })];
}
