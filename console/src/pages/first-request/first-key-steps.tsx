/**
 * Guides the user from no key to a first request: create a key, run a live test, show the secret once, show a snippet,
 * wait for the first request.
 */
import type { ReactNode } from 'react';
import { Button } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/code-block.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { SnippetChoice } from '../../snippets/snippet-choice.tsx';
import { FirstRequest } from './first-request.tsx';
import { Step } from './steps.tsx';
import { TestResult } from './test-result.tsx';
import { useFirstKey } from './use-first-key.ts';

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
  readonly onBegin?: () => void;
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
  onBegin,
  onward,
}: FirstKeyStepsProps) {
  const first = useFirstKey({ account, workspace, model });
  const { key, outcome } = first;
  const begin = () => {
    onBegin?.();
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
