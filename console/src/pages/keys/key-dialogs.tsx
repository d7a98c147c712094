/**
 * Renders the dialog of each action on a key; those of revocation and rotation are defined here. Loaded when the first
 * is chosen.
 */

import { useState } from 'react';
import type { Body } from '../../../../gateway/src/console-api/contract/contract.ts';
import { counted } from '../../lib/format.ts';
import { useAction, useReply } from '../../lib/queries.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm, Dialog } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Segmented } from '../../ui/field.tsx';
import { SkeletonLine } from '../../ui/page.tsx';
import { toast } from '../../ui/toasts.tsx';
import { CreateKey } from './create-key.tsx';
import { EditKey } from './edit-key.tsx';
import { KEY_READS, type Key, type KeyAction } from './key.ts';
import { RevealKey } from './reveal-key.tsx';

interface KeyDialogsProps {
  readonly account: string;
  readonly workspaces: readonly string[];
  readonly action: KeyAction;
  readonly onAction: (action: KeyAction | null) => void;
}

export default function KeyDialogs({ account, workspaces, action, onAction }: KeyDialogsProps) {
  const close = () => onAction(null);
  const revealOf = (of: 'new key' | 'rotation') => (key: Key, secret: string) =>
    onAction({ kind: 'reveal', of, key, secret });
  switch (action.kind) {
    case 'create':
      return (
        <CreateKey
          account={account}
          workspaces={workspaces}
          like={action.like}
          onCreated={revealOf('new key')}
          onClose={close}
        />
      );
    case 'edit':
      return <EditKey account={account} workspaces={workspaces} apiKey={action.key} onClose={close} />;
    case 'rotate':
      return <RotateKey account={account} apiKey={action.key} onRotated={revealOf('rotation')} onClose={close} />;
    case 'revoke':
      return <RevokeKey account={account} apiKey={action.key} onClose={close} />;
    case 'reveal':
      return <RevealKey account={account} of={action.of} apiKey={action.key} secret={action.secret} onClose={close} />;
  }
}

interface RevokeKeyProps {
  readonly account: string;
  readonly apiKey: Key;
  readonly onClose: () => void;
}

function RevokeKey({ account, apiKey, onClose }: RevokeKeyProps) {
  const revoke = useAction('POST /accounts/{account}/keys/{key}/revoke', KEY_READS);
  const { data, error } = useReply('GET /accounts/{account}/keys/{key}', { path: { account, key: apiKey.id } });
  return (
    <Confirm
      title={`Revoke ${apiKey.name}?`}
      submitLabel="Revoke key"
      busy={revoke.isPending}
      error={revoke.error}
      onClose={onClose}
      onAction={() =>
        revoke.mutate(
          { path: { account, key: apiKey.id }, body: {} },
          {
            onSuccess: () => {
              toast({ text: `Revoked ${apiKey.name}.` });
              onClose();
            },
          },
        )
      }
    >
      {data !== undefined ? (
        <p className="font-medium">{consequence(data.hour_requests)}</p>
      ) : error !== null ? (
        <p className="text-amber">Couldn’t load its recent usage: {error.message}</p>
      ) : (
        <SkeletonLine width={70} />
      )}
      <p>
        Requests with this key are rejected with status 401 immediately. This can’t be undone. Usage and logs are kept.
        To block the key temporarily, disable it instead.
      </p>
    </Confirm>
  );
}

function consequence(hourRequests: number): string {
  if (hourRequests === 0) return 'This key wasn’t used in the last hour.';
  return `This key was used for ${counted(hourRequests, 'request')} in the last hour.`;
}

type Grace = Body<'POST /accounts/{account}/keys/{key}/rotate'>['grace'];
const GRACES: readonly (readonly [Grace, string])[] = [
  ['now', 'Now'],
  ['1h', '1 hour'],
  ['24h', '24 hours'],
  ['7d', '7 days'],
];

interface RotateKeyProps {
  readonly account: string;
  readonly apiKey: Key;
  readonly onRotated: (key: Key, secret: string) => void;
  readonly onClose: () => void;
}

function RotateKey({ account, apiKey, onRotated, onClose }: RotateKeyProps) {
  const [grace, setGrace] = useState<Grace>('24h');
  const rotate = useAction('POST /accounts/{account}/keys/{key}/rotate', KEY_READS);
  // Read again: a rotation whose reply was lost is in progress too.
  const { data } = useReply('GET /accounts/{account}/keys/{key}', { path: { account, key: apiKey.id } });
  const { last4, rotation } = data?.key ?? apiKey;
  return (
    <Dialog
      title={`Rotate ${apiKey.name}`}
      lead="Creates a new secret. The key’s ID, limits and usage stay the same."
      busy={rotate.isPending}
      onClose={onClose}
      footer={
        <>
          <Button disabled={rotate.isPending} onClick={onClose}>
            Cancel
          </Button>
          <Button
            kind={grace === 'now' ? 'danger' : 'primary'}
            busy={rotate.isPending}
            onClick={() =>
              rotate.mutate(
                { path: { account, key: apiKey.id }, body: { grace } },
                { onSuccess: ({ key, secret }) => onRotated(key, secret) },
              )
            }
          >
            {grace === 'now' ? 'Rotate and expire old secret' : 'Rotate key'}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-3 text-read">
        <div className="flex flex-wrap items-center gap-3">
          <span aria-hidden="true">Old secret …{last4} expires</span>
          <Segmented label="Old secret expires" value={grace} choices={GRACES} onChoose={setGrace} />
        </div>
        <p>
          {grace === 'now'
            ? 'Clients that still use the old secret are rejected with status 401 immediately.'
            : 'Until then both secrets work, and the key’s page shows whether the old one is still used.'}
        </p>
        {rotation !== null && (
          <p className="text-amber">
            A previous rotation is in progress. Its old secret
            {rotation.old_last4 === null ? '' : ` …${rotation.old_last4}`} expires when you rotate again.
          </p>
        )}
        {rotate.error !== null && <ErrorNote error={rotate.error} />}
      </div>
    </Dialog>
  );
}
