/** Renders the home page before the first call: an introduction and the steps to a first request. */

import { useReply } from '../../lib/queries.ts';
import { type CurrentAccount, useSession } from '../../lib/session.ts';
import { Link } from '../../route/link.tsx';
import { Button } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Panel, Section } from '../../ui/page.tsx';
import { SkeletonPanel } from '../../ui/skeleton.tsx';
import { FirstKeySteps } from '../first-call/first-key-steps.tsx';
import { Steps } from '../first-call/steps.tsx';
import { SnippetChoice } from '../keys/snippet-choice.tsx';
import { chooseModel, chooseWorkspace } from './first-choice.ts';

interface FirstRunProps {
  readonly account: CurrentAccount;
  readonly hasKeys: boolean;
  /** A key is being created: the page must stay until the secret was shown. */
  readonly onBegin: () => void;
  readonly onDone: () => void;
}

export function FirstRun({ account, hasKeys, onBegin, onDone }: FirstRunProps) {
  const path = { account: account.account };
  const session = useSession();
  const models = useReply('GET /accounts/{account}/models', { path });
  const workspaces = useReply('GET /accounts/{account}/workspaces', { path });
  const failed = [models, workspaces].find(({ error }) => error !== null);
  if (failed?.error != null) return <ErrorNote error={failed.error} onRetry={() => void failed.refetch()} />;
  if (models.data === undefined || workspaces.data === undefined) return <SkeletonPanel heightPx={280} />;
  const model = chooseModel(models.data.models);
  const workspace = chooseWorkspace(workspaces.data.workspaces, account.workspaces);
  const url = session.data?.public_url ?? location.origin;
  if (model === null || workspace === null)
    return <NothingToCall account={account} lacks={model === null ? 'model' : 'workspace'} />;
  return (
    <div className="flex max-w-180 flex-col gap-8">
      {account.may('keys.write') && (
        <Panel className="p-5">
          <Steps>
            <FirstKeySteps
              account={account.account}
              workspace={workspace}
              model={model}
              url={url}
              about={
                <p>
                  Makes a key in the workspace <code>{workspace}</code> and streams one answer from <code>{model}</code>{' '}
                  with it, here in the page.
                </p>
              }
              from={1}
              isOpen
              onBegin={onBegin}
              onward={
                <p>
                  <Button kind="primary" onClick={onDone}>
                    Show the overview
                  </Button>
                </p>
              }
            />
          </Steps>
        </Panel>
      )}
      <Section title={hasKeys ? 'With a key that you have' : 'What a call looks like'}>
        <p className="text-ink-2">
          Put the key in place of <code>tg_YOUR_KEY</code>. Clients of both formats work with nothing but this address
          and a key.
        </p>
        <SnippetChoice first="curl" fill={{ url, key: 'tg_YOUR_KEY', model }} />
      </Section>
    </div>
  );
}

function NothingToCall({
  account,
  lacks,
}: {
  readonly account: CurrentAccount;
  readonly lacks: 'model' | 'workspace';
}) {
  const isModel = lacks === 'model';
  const mayMend = isModel
    ? account.may('operator.write')
    : account.may('workspaces.write') && account.workspaces === null;
  return (
    <Panel className="flex max-w-180 flex-col gap-2 p-5 text-read">
      <h2 className="font-semibold">{isModel ? 'No model can be called yet' : 'You have no workspace yet'}</h2>
      <p className="text-ink-2">
        {isModel
          ? 'A provider brings the models. Its credential is kept sealed, and callers never see it.'
          : 'Keys live in workspaces. Ask an owner or admin to give you one.'}
      </p>
      {mayMend && (
        <p>
          <Link
            to={isModel ? '/app/providers' : '/app/workspaces'}
            className="font-medium text-accent underline-offset-2 hover:underline"
          >
            {isModel ? 'Add a provider' : 'Make a workspace'}
          </Link>
        </p>
      )}
    </Panel>
  );
}
