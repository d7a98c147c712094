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
  ['now', 'now'],
  ['1h', '1 h'],
  ['24h', '24 h'],
  ['7d', '7 d'],
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
      lead="The key gets a new secret; its id, limits and usage stay."
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
            {grace === 'now' ? 'Rotate and end the old one now' : 'Rotate key'}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-3 text-read">
        <div className="flex flex-wrap items-center gap-3">
          <span aria-hidden="true">The old secret …{apiKey.last4} ends</span>
          <Segmented label="The old secret ends" value={grace} choices={GRACES} onChoose={setGrace} />
        </div>
        <p>
          {grace === 'now'
            ? 'Whoever still uses the old secret is refused with 401 from this moment on.'
            : 'Until then both secrets work, and the page of the key shows which of them is still in use.'}
        </p>
        {apiKey.rotation !== null && (
          <p className="text-amber">
            A rotation is under way: the secret before this one
            {apiKey.rotation.old_last4 === null ? '' : `, …${apiKey.rotation.old_last4},`} still works. It ends now.
          </p>
        )}
        {rotate.error !== null && <ErrorNote error={rotate.error} />}
      </div>
    </Dialog>
  );
}
