/** Creates the first key and calls a model with it at once. The secret exists only in this page's memory. */
import { useState } from 'react';
import { useAct } from '../../lib/queries.ts';
import { runTestCall, type TestOutcome } from './run-test-request.ts';

export interface FirstKey {
  readonly id: string;
  readonly secret: string;
}

interface Given {
  readonly account: string;
  readonly workspace: string;
  readonly model: string;
}

const NO_CAPS = { rpm: null, tpm: null, concurrency: null, budget_usd: null, budget_window: null } as const;

export function useFirstKey({ account, workspace, model }: Given) {
  const create = useAct('POST /accounts/{account}/keys');
  const [text, setText] = useState('');
  const [outcome, setOutcome] = useState<TestOutcome | null>(null);
  const made = create.data;

  async function call(secret: string): Promise<void> {
    setText('');
    setOutcome(null);
    setOutcome(await runTestCall(secret, model, (piece) => setText((before) => before + piece)));
  }

  const begin = () => {
    const body = {
      name: 'First key',
      workspace,
      models: null,
      ips: null,
      scopes: ['inference' as const],
      strict: false,
      caps: NO_CAPS,
      expires_at: null,
    };
    create.mutate({ path: { account }, body }, { onSuccess: ({ secret }) => call(secret) });
  };
  const key: FirstKey | null = made === undefined ? null : { id: made.key.id, secret: made.secret };
  return {
    key,
    text,
    outcome,
    error: create.error,
    isCreating: create.isPending,
    begin,
    again: () => void (key === null ? undefined : call(key.secret)),
  };
}
