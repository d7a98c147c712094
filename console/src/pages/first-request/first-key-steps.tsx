/**
 * Guides the user from no key to a first request: create a key, run a live test, show the secret once, show a snippet,
 * wait for the first request.
 */

import { Check } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { duration } from '../../lib/format.ts';
import { useAction, useReply } from '../../lib/queries.ts';
import { SnippetChoice } from '../../snippets/snippet-choice.tsx';
import { Button } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/code-block.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { runTestRequest, type TestOutcome } from './run-test-request.ts';
import { Step } from './steps.tsx';

interface FirstKeyStepsProps {
  readonly account: string;
  readonly workspace: string;
  readonly model: string;
  /** The gateway's address for clients. */
  readonly url: string;
  /** A sentence about the source of the model's answers. */
  readonly about: ReactNode;
  /** Number of the first of the two steps. */
  readonly from: number;
  /** False while an earlier step is not done. */
  readonly isOpen: boolean;
  /** Called when key creation starts. */
  readonly onStart?: () => void;
  /** Shown after the key: the next step. */
  readonly onward?: ReactNode;
}

export function FirstKeySteps({
  account,
  workspace,
  model,
  url,
  about,
  from,
  isOpen,
  onStart,
  onward,
}: FirstKeyStepsProps) {
  const first = useFirstKey({ account, workspace, model });
  const { key, outcome } = first;
  const begin = () => {
    onStart?.();
    first.begin();
  };
  const isTested = outcome !== null && outcome.error === null;
  return (
    <>
      <Step number={from} title="Create an API key and test it" state={!isOpen ? 'later' : isTested ? 'done' : 'now'}>
        {isOpen && key === null && (
          <>
            <div className="text-ink-2">{about}</div>
            {first.error !== null && <ErrorNote error={first.error} />}
            <p>
              <Button kind="primary" busy={first.isCreating} onClick={begin}>
                Create key and test {model}
              </Button>
            </p>
          </>
        )}
        {key !== null && <TestResult model={model} text={first.text} outcome={outcome} onAgain={first.again} />}
      </Step>
      <Step number={from + 1} title="Use your key" state={key !== null && outcome !== null ? 'now' : 'later'}>
        {key !== null && outcome !== null && (
          <>
            <div className="flex min-w-0 flex-col gap-1.5">
              <p className="text-ink-2">Copy your API key now and store it securely. It won’t be shown again.</p>
              <CodeBlock text={key.secret} what="API key" wraps />
            </div>
            <SnippetChoice first="curl" fill={{ url, key: key.secret, model }} />
            <FirstRequest account={account} keyId={key.id} exceptRequestId={outcome.requestId} />
            {onward}
          </>
        )}
      </Step>
    </>
  );
}

interface FirstKey {
  readonly id: string;
  readonly secret: string;
}

interface Given {
  readonly account: string;
  readonly workspace: string;
  readonly model: string;
}

const NO_CAPS = { rpm: null, tpm: null, concurrency: null, budget_usd: null, budget_window: null } as const;

function useFirstKey({ account, workspace, model }: Given) {
  const create = useAction('POST /accounts/{account}/keys');
  const [text, setText] = useState('');
  const [outcome, setOutcome] = useState<TestOutcome | null>(null);
  const made = create.data;

  async function call(secret: string): Promise<void> {
    setText('');
    setOutcome(null);
    setOutcome(await runTestRequest(secret, model, (piece) => setText((before) => before + piece)));
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

interface TestResultProps {
  readonly model: string;
  readonly text: string;
  /** Null while the call is in progress. */
  readonly outcome: TestOutcome | null;
  readonly onAgain: () => void;
}

function TestResult({ model, text, outcome, onAgain }: TestResultProps) {
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <div className="min-w-0 rounded-md border border-line bg-sunken px-3 py-2.5">
        <p className="text-sm text-ink-3">Response from {model}</p>
        <p className="min-h-5.5 text-read break-words whitespace-pre-wrap">{text}</p>
      </div>
      {outcome !== null && outcome.error === null && (
        <p className="figures text-sm text-ink-2">
          Streamed in {duration(outcome.durationMs)}
          {outcome.firstWordMs !== null && `, first token after ${duration(outcome.firstWordMs)}`}.
        </p>
      )}
      {outcome?.error != null && (
        <>
          <ErrorNote error={new Error(`The test request failed: ${outcome.error}`)} />
          <p>
            <Button onClick={onAgain}>Try again</Button>
          </p>
        </>
      )}
    </div>
  );
}

interface FirstRequestProps {
  readonly account: string;
  /** Only calls with this key count. */
  readonly keyId: string;
  /** The test's own call, which does not count. */
  readonly exceptRequestId: string | null;
}

const POLL_MS = 1_000;

function FirstRequest({ account, keyId, exceptRequestId }: FirstRequestProps) {
  const logs = useReply(
    'GET /accounts/{account}/logs',
    { path: { account }, query: { key: keyId, limit: 5 } },
    { everyMs: POLL_MS },
  );
  const first = logs.data?.calls.findLast(({ request_id }) => request_id !== exceptRequestId);
  if (logs.error !== null) return <ErrorNote error={logs.error} onRetry={() => void logs.refetch()} />;
  return (
    <p role="status" className="flex items-center gap-2 rounded-md border border-line bg-panel px-3 py-2">
      {first === undefined ? (
        <>
          <span aria-hidden="true" className="relative flex size-2 shrink-0 rounded-full bg-line-strong">
            <span className="absolute inset-0 animate-[pulse-soft_1.6s_ease-in-out_infinite] rounded-full bg-accent" />
          </span>
          <span className="text-ink-2">Waiting for your first request. Run the snippet in a terminal.</span>
        </>
      ) : (
        <>
          <Check size={15} aria-hidden="true" className="shrink-0 text-green" />
          <span>
            <span className="font-medium">First request received.</span>{' '}
            <span className="text-ink-2">
              {first.model ?? 'No model'}, status {first.status}, {duration(first.duration_ms)}
            </span>
          </span>
        </>
      )}
    </p>
  );
}
