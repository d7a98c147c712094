/** Changes several keys with one request, and offers to undo it. */
import { counted } from '../../../lib/format.ts';
import { useAction } from '../../../lib/queries.ts';
import { toast } from '../../../ui/toasts.tsx';
import { KEY_READS, type Key } from '../key.ts';
import { type BulkBody, undoRequests } from './bulk-changes.ts';

const DONE: Readonly<Record<BulkBody['action'], (keys: string) => string>> = {
  disable: (keys) => `Disabled ${keys}. Their requests are rejected.`,
  enable: (keys) => `Enabled ${keys}.`,
  revoke: (keys) => `Revoked ${keys}.`,
  set: (keys) => `Saved ${keys}. Applies from the next request.`,
};

type Given = Pick<BulkBody, 'action' | 'set'>;

export function useBulk(account: string, keys: readonly Key[]) {
  const { mutate, mutateAsync, isPending, error } = useAction('POST /accounts/{account}/keys/bulk', KEY_READS);
  const fail = (fault: Error) => toast({ tone: 'bad', text: fault.message });
  /** Each request is undone apart; the toast names the first fault. */
  async function undo(requests: readonly BulkBody[]): Promise<void> {
    for (const body of requests) await mutateAsync({ path: { account }, body });
  }
  function change(given: Given, onDone?: () => void): void {
    const before = keys;
    mutate(
      { path: { account }, body: { ...given, keys: before.map(({ id }) => id) } },
      {
        onSuccess: () => {
          const back = undoRequests(before, given);
          const text = DONE[given.action](counted(before.length, 'key'));
          toast(back.length === 0 ? { text } : { text, undo: () => void undo(back).catch(fail) });
          onDone?.();
        },
        // A dialog shows its own error.
        onError: (fault) => {
          if (onDone === undefined) fail(fault);
        },
      },
    );
  }
  return { change, isPending, error };
}
