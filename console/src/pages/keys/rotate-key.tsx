/** Asks how long the old secret keeps working, and rotates the key. */
import { useState } from 'react';
import type { Body } from '../../../../gateway/src/console-api/contract/contract.ts';
import { useAct } from '../../lib/queries.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Segmented } from '../../ui/segmented.tsx';
import { KEY_READS, type Key } from './key.ts';

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

export function RotateKey({ account, apiKey, onRotated, onClose }: RotateKeyProps) {
  const [grace, setGrace] = useState<Grace>('24h');
  const rotate = useAct('POST /accounts/{account}/keys/{key}/rotate', KEY_READS);
  return (
    <Dialog
      title={`Rotate ${apiKey.name}`}
      lead="Creates a new secret. The key’s ID, limits and usage stay the same."
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
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
          <span aria-hidden="true">Old secret …{apiKey.last4} expires</span>
          <Segmented label="Old secret expires" value={grace} choices={GRACES} onChoose={setGrace} />
        </div>
        <p>
          {grace === 'now'
            ? 'Clients that still use the old secret are rejected with status 401 immediately.'
            : 'Until then both secrets work, and the key’s page shows whether the old one is still used.'}
        </p>
        {apiKey.rotation !== null && (
          <p className="text-amber">
            A previous rotation is in progress. Its old secret
            {apiKey.rotation.old_last4 === null ? '' : ` …${apiKey.rotation.old_last4}`} expires when you rotate again.
          </p>
        )}
        {rotate.error !== null && <ErrorNote error={rotate.error} />}
      </div>
    </Dialog>
  );
}
