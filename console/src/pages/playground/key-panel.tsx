/**
 * Chooses the key that pays for the playground's requests: the member's own playground key, which needs no secret to be
 * pasted, or another one.
 */
import { useState } from 'react';
import { knownReply, useReply } from '../../lib/queries.ts';
import { useAccount } from '../../lib/session.ts';
import { Link } from '../../route/link.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Fold, SelectField, TextField } from '../../ui/field.tsx';
import { Panel } from '../../ui/page.tsx';
import type { Credential } from './answer/use-run.ts';
import { sessionCredential } from './session-key.ts';

export interface KeyChoice {
  /** Null: no key was entered, and the user may not create one. */
  readonly credential: Credential | null;
  readonly secret: string;
  readonly workspace: string | null;
  readonly setSecret: (secret: string) => void;
  readonly setWorkspace: (workspace: string) => void;
}

/** A pasted secret survives navigation, but no reload. */
let pasted = { owner: '', secret: '' };

/**
 * `owner`: the user and the account that a pasted secret is kept for. `preferred`: the workspace of the request that is
 * replayed; null: none.
 */
export function useKeyChoice(owner: string, preferred: string | null): KeyChoice {
  const { account, may } = useAccount();
  const mayOwnKey = may('keys.write') && may('workspaces.read');
  const { data } = useReply('GET /accounts/{account}/workspaces', { path: { account } }, { enabled: mayOwnKey });
  const [secret, setSecret] = useState(pasted.owner === owner ? pasted.secret : '');
  const [chosen, setChosen] = useState<string | null>(null);
  const choose = (workspaces: readonly { readonly id: string }[] = []): string | null => {
    const ids = workspaces.map(({ id }) => id);
    return [chosen, preferred, ids[0]].find((id) => id != null && ids.includes(id)) ?? null;
  };
  // A request that is sent before the workspaces are known waits for them.
  const own: Credential = async (refused) => {
    const { workspaces } = await knownReply('GET /accounts/{account}/workspaces', { path: { account } });
    const payer = choose(workspaces);
    return payer === null ? null : sessionCredential(account, payer)(refused);
  };
  return {
    // The gateway's message explains why a pasted key is refused.
    credential: secret === '' ? (mayOwnKey ? own : null) : async (refused) => (refused === null ? secret : null),
    secret,
    workspace: choose(data?.workspaces),
    setSecret(next) {
      pasted = { owner, secret: next };
      setSecret(next);
    },
    setWorkspace: setChosen,
  };
}

export function KeyPanel({ choice }: { readonly choice: KeyChoice }) {
  const { account, may } = useAccount();
  const mayCreate = may('keys.write');
  const { data, error, refetch } = useReply(
    'GET /accounts/{account}/workspaces',
    { path: { account } },
    { enabled: mayCreate },
  );
  const field = (
    <TextField
      label="API key"
      type="password"
      autoComplete="off"
      spellCheck={false}
      placeholder="tg_…"
      value={choice.secret}
      hint="Requests are billed to this key. It’s cleared when you reload the page."
      onChange={(event) => choice.setSecret(event.target.value.trim())}
    />
  );
  if (!mayCreate) return <Panel className="p-4">{field}</Panel>;
  return (
    <Panel className="flex flex-col gap-3 p-4">
      {error !== null && <ErrorNote error={error} onRetry={() => void refetch()} />}
      <SelectField
        label="Billed to workspace"
        value={choice.workspace ?? ''}
        disabled={data === undefined || choice.secret !== ''}
        hint={
          <>
            Your{' '}
            <Link to="/app/keys" className="text-accent underline underline-offset-2">
              playground key
            </Link>{' '}
            pays: $5 per day unless you change its budget.
          </>
        }
        onChange={(event) => choice.setWorkspace(event.target.value)}
      >
        {data?.workspaces.map(({ id }) => (
          <option key={id} value={id}>
            {id}
          </option>
        ))}
      </SelectField>
      <Fold title="Use another API key" opens={choice.secret !== ''}>
        {field}
      </Fold>
    </Panel>
  );
}
