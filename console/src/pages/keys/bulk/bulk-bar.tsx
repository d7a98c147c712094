/** Renders the bar of the chosen keys with their actions. It floats at the bottom, so that no row moves. */
import { Ban, CircleCheck, Pencil, Trash2, X } from 'lucide-react';
import { useState } from 'react';
import { counted } from '../../../lib/format.ts';
import { part } from '../../../lib/part.ts';
import { DialogPart } from '../../../shell/page-fault.tsx';
import { Button, IconButton } from '../../../ui/button.tsx';
import type { Key } from '../key.ts';
import { BULK_MAX, type BulkDialogKind } from './bulk-changes.ts';
import { useBulk } from './use-bulk.ts';

const BulkDialog = part(() => import('./bulk-dialog.tsx'));

interface BulkBarProps {
  readonly account: string;
  readonly keys: readonly Key[];
  /** Whether one of the keys may not be enabled by the user. */
  readonly isLocked: boolean;
  readonly onClear: () => void;
}

export function BulkBar({ account, keys, isLocked, onClear }: BulkBarProps) {
  const [dialog, setDialog] = useState<BulkDialogKind | null>(null);
  const { change, isPending } = useBulk(account, keys);
  const isTooMany = keys.length > BULK_MAX;
  const mayEnable = keys.some(({ status }) => status === 'disabled') && !isLocked;
  const mayDisable = keys.some(({ status }) => status !== 'disabled');
  return (
    <section
      aria-label="Selected keys"
      className="sticky bottom-3 z-20 mx-auto flex w-fit max-w-full flex-wrap items-center gap-2 rounded-lg border border-line-strong bg-raised p-2 shadow-float"
    >
      <span role="status" className="px-1 font-medium whitespace-nowrap">
        {isTooMany
          ? `${counted(keys.length, 'key')} selected; the maximum is ${BULK_MAX}`
          : `${counted(keys.length, 'key')} selected`}
      </span>
      {!isTooMany && (
        <>
          {mayDisable && (
            <Button icon={<Ban size={14} />} onPointerEnter={BulkDialog.prefetch} onClick={() => setDialog('disable')}>
              Disable…
            </Button>
          )}
          {mayEnable && (
            <Button icon={<CircleCheck size={14} />} busy={isPending} onClick={() => change({ action: 'enable' })}>
              Enable
            </Button>
          )}
          <Button icon={<Pencil size={14} />} onPointerEnter={BulkDialog.prefetch} onClick={() => setDialog('set')}>
            Edit…
          </Button>
          <Button
            kind="danger"
            icon={<Trash2 size={14} />}
            onPointerEnter={BulkDialog.prefetch}
            onClick={() => setDialog('revoke')}
          >
            Revoke…
          </Button>
        </>
      )}
      <IconButton label="Clear selection" onClick={onClear}>
        <X size={15} />
      </IconButton>
      {dialog !== null && (
        <DialogPart onClose={() => setDialog(null)}>
          <BulkDialog account={account} keys={keys} kind={dialog} onClose={() => setDialog(null)} onDone={onClear} />
        </DialogPart>
      )}
    </section>
  );
}
