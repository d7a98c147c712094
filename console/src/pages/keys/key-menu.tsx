/** Renders the menu of a key and the dialog of the chosen act, for the list and for the key's page. */
import { Ban, CircleCheck, Copy, EllipsisVertical, Pencil, RotateCw, Trash2 } from 'lucide-react';
import { part } from '../../lib/part.ts';
import { useAction } from '../../lib/queries.ts';
import { DialogPart } from '../../shell/page-fault.tsx';
import { IconButton } from '../../ui/button.tsx';
import { Menu, MenuItem, MenuLabel, MenuLine } from '../../ui/menu.tsx';
import { toast } from '../../ui/toasts.tsx';
import { KEY_READS, type Key, type KeyAction } from './key.ts';

/** The dialogs, loaded when an act is first chosen. */
export const KeyDialogs = part(() => import('./key-dialogs.tsx'));

interface KeyDialogProps {
  readonly account: string;
  readonly workspaces: readonly string[];
  readonly action: KeyAction | null;
  readonly onAction: (action: KeyAction | null) => void;
}

/** The dialog of the current act, if any. */
export function KeyDialog({ action, ...rest }: KeyDialogProps) {
  return (
    action !== null && (
      <DialogPart onClose={() => rest.onAction(null)}>
        <KeyDialogs action={action} {...rest} />
      </DialogPart>
    )
  );
}

/** Disables or enables a key; both can be undone. */
function useSwitch(account: string): (key: Key, on: boolean) => void {
  const disable = useAction('POST /accounts/{account}/keys/{key}/disable', KEY_READS);
  const enable = useAction('POST /accounts/{account}/keys/{key}/enable', KEY_READS);
  return function turn(key, on) {
    const { mutateAsync } = on ? enable : disable;
    mutateAsync({ path: { account, key: key.id }, body: {} }).then(
      () =>
        toast({
          text: on ? `Enabled ${key.name}.` : `Disabled ${key.name}. Its requests are rejected.`,
          undo: () => turn(key, !on),
        }),
      (error: Error) => toast({ tone: 'bad', text: error.message }),
    );
  };
}

interface KeyMenuProps {
  readonly account: string;
  readonly apiKey: Key;
  /** Whether the user may create keys at all. */
  readonly mayCreate: boolean;
  readonly mayChange: boolean;
  /** Why the user may not enable a disabled key; null: they may. */
  readonly lock: string | null;
  readonly onAction: (action: KeyAction) => void;
}

export function KeyMenu({ account, apiKey, mayCreate, mayChange, lock, onAction }: KeyMenuProps) {
  const turn = useSwitch(account);
  const isOver = apiKey.status === 'revoked';
  if (!mayCreate && (!mayChange || isOver)) return null;
  return (
    <Menu
      trigger={
        <IconButton
          label={`Actions for ${apiKey.name}`}
          className="size-7"
          onPointerEnter={KeyDialogs.prefetch}
          onFocus={KeyDialogs.prefetch}
        >
          <EllipsisVertical size={15} />
        </IconButton>
      }
    >
      {mayChange && !isOver && (
        <>
          <MenuItem icon={<Pencil size={14} />} onSelect={() => onAction({ kind: 'edit', key: apiKey })}>
            Edit…
          </MenuItem>
          <MenuItem icon={<RotateCw size={14} />} onSelect={() => onAction({ kind: 'rotate', key: apiKey })}>
            Rotate…
          </MenuItem>
        </>
      )}
      {mayCreate && (
        <MenuItem icon={<Copy size={14} />} onSelect={() => onAction({ kind: 'create', like: apiKey })}>
          Duplicate…
        </MenuItem>
      )}
      {mayChange && !isOver && (
        <>
          <MenuLine />
          {apiKey.status === 'disabled' ? (
            <>
              <MenuItem icon={<CircleCheck size={14} />} disabled={lock !== null} onSelect={() => turn(apiKey, true)}>
                Enable
              </MenuItem>
              {lock !== null && <MenuLabel>{lock}</MenuLabel>}
            </>
          ) : (
            <MenuItem icon={<Ban size={14} />} onSelect={() => turn(apiKey, false)}>
              Disable
            </MenuItem>
          )}
          <MenuItem danger icon={<Trash2 size={14} />} onSelect={() => onAction({ kind: 'revoke', key: apiKey })}>
            Revoke…
          </MenuItem>
        </>
      )}
    </Menu>
  );
}
