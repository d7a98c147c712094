/** Owns what the directory tells of a budget's subject: whose account it is of, and from when on it can have spent anything. */
import type { KeyDirectory } from '../identity/key-directory.ts';
import { type BindingCaps, EVERY_END_USER, type Subject } from '../store/limits-port.ts';

/** No clock is set back by more while it serves. */
const CLOCK_SETBACK_MS = 3_600_000;

/**
 * The account whose zone the subject's windows are in; of a model, which is nobody's, an empty id. Null: the directory does
 * not know the subject, or it stands for many.
 */
export function accountOf({ kind, id }: Subject, directory: Pick<KeyDirectory, 'keys' | 'workspaces'>): string | null {
  switch (kind) {
    case 'key':
      return directory.keys.get(id)?.accountId ?? null;
    case 'workspace':
      return directory.workspaces.get(id)?.accountId ?? null;
    case 'account':
      return id;
    case 'model':
      return '';
    case 'end_user':
      return id.endsWith(`/${EVERY_END_USER}`) ? null : id.slice(0, id.indexOf('/'));
  }
}

/** The binding with its window cut at the subject's beginning: of a new key there is nothing to read, however long the window. */
export function sinceMade(
  binding: BindingCaps,
  directory: Pick<KeyDirectory, 'keys' | 'workspaces' | 'accounts'>,
): BindingCaps {
  const { kind, id } = binding.subject;
  const made =
    kind === 'key'
      ? directory.keys.get(id)
      : kind === 'workspace'
        ? directory.workspaces.get(id)
        : kind === 'account'
          ? directory.accounts.get(id)
          : undefined;
  const sinceMs = made === undefined ? 0 : made.createdAtMs - CLOCK_SETBACK_MS;
  return sinceMs > binding.windowStartMs ? { ...binding, windowStartMs: sinceMs } : binding;
}
