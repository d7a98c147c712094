/**
 * Chooses the key of the playground: a pasted one, or a new one. Stores it in memory, and in session storage only on
 * request.
 */
import { KeyRound } from 'lucide-react';
import { useState, useSyncExternalStore } from 'react';
import { useAction, useReply } from '../../lib/queries.ts';
import { useAccount } from '../../lib/session.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { CheckField, SelectField, TextField } from '../../ui/field.tsx';
import { Panel } from '../../ui/page.tsx';
import { toast } from '../../ui/toasts.tsx';

const NEW_KEY_FOR_MS = 86_400_000;
const NEW_KEY_BUDGET_USD = '1';

export function KeyPanel() {
  const key = usePlaygroundKey();
  const { may } = useAccount();
  const [isCreating, setCreating] = useState(false);
  return (
    <Panel className="flex flex-col gap-3 p-4">
      <TextField
        label="API key"
        type="password"
        autoComplete="off"
        spellCheck={false}
        placeholder="tg_…"
        value={key.secret}
        hint="Requests are billed to this key. The key is kept in this page’s memory only."
        onChange={(event) => setPlaygroundKey({ ...key, secret: event.target.value.trim() })}
      />
      <CheckField
        label="Remember in this tab"
        hint="Kept until you close the tab. Otherwise it’s cleared when you reload the page."
        checked={key.isKept}
        onChange={(event) => setPlaygroundKey({ ...key, isKept: event.target.checked })}
      />
      {may('keys.write') && key.secret === '' && (
        <p>
          <Button icon={<KeyRound size={14} aria-hidden="true" />} onClick={() => setCreating(true)}>
            Create key
          </Button>
        </p>
      )}
      {isCreating && <CreatePlaygroundKey onClose={() => setCreating(false)} />}
    </Panel>
  );
}

function CreatePlaygroundKey({ onClose }: { readonly onClose: () => void }) {
  const { account } = useAccount();
  const key = usePlaygroundKey();
  const keys = useReply('GET /accounts/{account}/keys', { path: { account } });
  const [chosen, setChosen] = useState<string | null>(null);
  const make = useAction('POST /accounts/{account}/keys', ['GET /accounts/{account}/keys']);
  const workspace = chosen ?? keys.data?.workspaces[0] ?? null;
  const submit = () => {
    if (workspace === null) return;
    make.mutate(
      {
        path: { account },
        body: {
          name: 'Playground',
          workspace,
          models: null,
          ips: null,
          scopes: ['inference'],
          strict: false,
          caps: { rpm: null, tpm: null, concurrency: null, budget_usd: NEW_KEY_BUDGET_USD, budget_window: 'total' },
          expires_at: new Date(Date.now() + NEW_KEY_FOR_MS).toISOString(),
        },
      },
      {
        onSuccess: ({ secret }) => {
          setPlaygroundKey({ ...key, secret });
          toast({ text: 'Created a key that expires in 24 hours or after spending $1.', tone: 'good' });
          onClose();
        },
      },
    );
  };
  return (
    <Dialog
      title="Create playground key"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" busy={make.isPending} disabled={workspace === null} onClick={submit}>
            Create key
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-3 text-read">
        <p>
          Creates an API key named “Playground” for all models of the workspace. It has a total budget of $1 and expires
          in 24 hours. Its secret is used by this page and never shown.
        </p>
        {keys.error !== null && <ErrorNote error={keys.error} onRetry={() => void keys.refetch()} />}
        <SelectField
          label="Workspace"
          value={workspace ?? ''}
          disabled={keys.data === undefined}
          onChange={(event) => setChosen(event.target.value)}
        >
          {keys.data?.workspaces.map((id) => (
            <option key={id} value={id}>
              {id}
            </option>
          ))}
        </SelectField>
        {make.error !== null && <ErrorNote error={make.error} />}
      </div>
    </Dialog>
  );
}

interface PlaygroundKey {
  readonly secret: string;
  /** The key survives a reload of this tab. */
  readonly isKept: boolean;
}

const STORED = 'tollgate.playground-key';
const kept = sessionStorage.getItem(STORED);
let current: PlaygroundKey = { secret: kept ?? '', isKept: kept !== null };
const listeners = new Set<() => void>();

function setPlaygroundKey(key: PlaygroundKey): void {
  current = key;
  if (key.isKept && key.secret !== '') sessionStorage.setItem(STORED, key.secret);
  else sessionStorage.removeItem(STORED);
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function usePlaygroundKey(): PlaygroundKey {
  return useSyncExternalStore(subscribe, () => current);
}
