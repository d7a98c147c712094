/** Renders the dialog of each act on a key. Loaded when the first is chosen. */

import { CreateKey } from './create-key.tsx';
import { EditKey } from './edit-key.tsx';
import type { Key, KeyAct } from './key.ts';
import { RevealKey } from './reveal-key.tsx';
import { RevokeKey } from './revoke-key.tsx';
import { RotateKey } from './rotate-key.tsx';

interface KeyDialogsProps {
  readonly account: string;
  readonly workspaces: readonly string[];
  readonly act: KeyAct;
  readonly onAct: (act: KeyAct | null) => void;
}

export default function KeyDialogs({ account, workspaces, act, onAct }: KeyDialogsProps) {
  const close = () => onAct(null);
  const reveal = (key: Key, secret: string) => onAct({ kind: 'reveal', key, secret });
  switch (act.kind) {
    case 'create':
      return <CreateKey account={account} workspaces={workspaces} like={act.like} onCreated={reveal} onClose={close} />;
    case 'edit':
      return <EditKey account={account} workspaces={workspaces} apiKey={act.key} onClose={close} />;
    case 'rotate':
      return <RotateKey account={account} apiKey={act.key} onRotated={reveal} onClose={close} />;
    case 'revoke':
      return <RevokeKey account={account} apiKey={act.key} onClose={close} />;
    case 'reveal':
      return <RevealKey account={account} apiKey={act.key} secret={act.secret} onClose={close} />;
  }
}
