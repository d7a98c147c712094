/** Renders the home page before the first request: an introduction and the steps to a first request. */
import { useReply } from '../../lib/queries.ts';
import { type CurrentAccount, useSession } from '../../lib/session.ts';
import { Link } from '../../route/link.tsx';
import { SnippetChoice } from '../../snippets/snippet-choice.tsx';
import { Button } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Panel, Section, SkeletonPanel } from '../../ui/page.tsx';
import { FirstKeySteps } from '../first-request/first-key-steps.tsx';
import { Steps } from '../first-request/steps.tsx';

interface FirstRunProps {
  readonly account: CurrentAccount;
  readonly hasKeys: boolean;
  /** A key is being created: the page must stay until the secret was shown. */
  readonly onStart: () => void;
  readonly onDone: () => void;
}

export function FirstRun({ account, hasKeys, onStart, onDone }: FirstRunProps) {
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
                  Creates an API key in the workspace <code>{workspace}</code> and streams a test response from{' '}
                  <code>{model}</code>.
                </p>
              }
              from={1}
              isOpen
              onStart={onStart}
              onward={
                <p>
                  <Button kind="primary" onClick={onDone}>
                    Open overview
                  </Button>
                </p>
              }
            />
          </Steps>
        </Panel>
      )}
      <Section title={hasKeys ? 'Use an existing key' : 'Example request'}>
        <p className="text-ink-2">
          Replace <code>tg_YOUR_KEY</code> with your API key. OpenAI and Anthropic clients need only this address and a
          key.
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
      <h2 className="font-semibold">{isModel ? 'No models yet' : 'No workspace yet'}</h2>
      <p className="text-ink-2">
        {isModel
          ? 'Add a provider to make its models available. Its credential is encrypted and never shown to clients.'
          : `API keys belong to workspaces. ${mayMend ? 'Create one first.' : 'Ask an owner or admin for access to one.'}`}
      </p>
      {mayMend && (
        <p>
          <Link
            to={isModel ? '/app/providers' : '/app/workspaces'}
            className="font-medium text-accent underline-offset-2 hover:underline"
          >
            {isModel ? 'Add provider' : 'Create workspace'}
          </Link>
        </p>
      )}
    </Panel>
  );
}

interface Callable {
  readonly name: string;
  readonly protocols: readonly string[];
  readonly price: unknown;
  readonly source: string;
}

/**
 * Prefers a real model to the built-in one, and a priced one to an unpriced one, which would be refused where a budget
 * applies.
 */
export function chooseModel(models: readonly Callable[]): string | null {
  const rank = ({ source, price }: Callable): number => (source === 'demo' ? 1 : 0) + (price === null ? 2 : 0);
  const [first] = models
    .filter(({ protocols }) => protocols.includes('chat'))
    .sort((one, other) => rank(one) - rank(other));
  return first?.name ?? null;
}

/** `default` if the user has access to it, else the first accessible one. `own` null: all are accessible. */
export function chooseWorkspace(
  workspaces: readonly { readonly id: string }[],
  own: readonly string[] | null,
): string | null {
  const ids = workspaces.map(({ id }) => id).filter((id) => own === null || own.includes(id));
  return ids.find((id) => id === 'default') ?? ids[0] ?? null;
}
