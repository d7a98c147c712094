/**
 * Renders the page of the one-time setup link: creates the owner, then a key, then a first request. Explains why a
 * link does not work.
 */
import { useState } from 'react';
import type { Reply } from '../../../../gateway/src/console-api/contract/contract.ts';
import { useReply } from '../../lib/queries.ts';
import { type Session, useSession } from '../../lib/session.ts';
import { Link } from '../../route/link.tsx';
import { useSearch } from '../../route/route.ts';
import { OpenFrame } from '../../shell/open-frame.tsx';
import { buttonClasses } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/code-block.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { SkeletonPanel } from '../../ui/page.tsx';
import { FirstKeySteps } from '../first-request/first-key-steps.tsx';
import { Step, Steps } from '../first-request/steps.tsx';
import { OwnerForm } from './owner-form.tsx';

const TITLE = 'Set up Tollgate';
/** The account of the first owner, which operates the installation. */
const ACCOUNT = 'default';

export default function SetupPage() {
  const { token = '' } = useSearch();
  const session = useSession();
  const [workspace, setWorkspace] = useState<string | null>(null);
  const setup = useReply(
    'GET /setup/{token}',
    { path: { token } },
    // A used link is not fetched again; its reply is kept.
    { enabled: token !== '' && workspace === null },
  );
  const failure = setup.error ?? session.error;
  if (failure !== null) {
    const retry = () => void (setup.error === null ? session.refetch() : setup.refetch());
    return (
      <OpenFrame wide title={TITLE}>
        <ErrorNote error={failure} onRetry={retry} />
      </OpenFrame>
    );
  }
  if (session.data === undefined || (token !== '' && setup.data === undefined)) {
    return (
      <OpenFrame wide title={TITLE}>
        <SkeletonPanel heightPx={320} />
      </OpenFrame>
    );
  }
  if (setup.data === undefined || (!setup.data.valid && workspace === null))
    return <InvalidLink state={session.data.state} />;
  return (
    <SetupSteps token={token} session={session.data} link={setup.data} workspace={workspace} onCreated={setWorkspace} />
  );
}

interface SetupStepsProps {
  readonly token: string;
  readonly session: Session;
  readonly link: Parameters<typeof ProviderSummary>[0]['link'];
  /** Null until the owner is created. */
  readonly workspace: string | null;
  readonly onCreated: (workspace: string) => void;
}

function SetupSteps({ token, session, link, workspace, onCreated }: SetupStepsProps) {
  const isCreated = workspace !== null;
  return (
    <OpenFrame
      wide
      title={TITLE}
      lead="Create an account and an API key, then send a test request. You can change everything later. Only your requests leave this machine."
    >
      <Steps>
        <Step
          number={1}
          title="Create the owner account"
          state={isCreated ? 'done' : 'now'}
          outcome={isCreated ? session.person?.email : undefined}
        >
          {!isCreated && <OwnerForm token={token} onCreated={onCreated} />}
        </Step>
        <FirstKeySteps
          account={ACCOUNT}
          workspace={workspace ?? ACCOUNT}
          model={link.model}
          url={session.public_url}
          about={<ProviderSummary link={link} />}
          from={2}
          isOpen={isCreated}
          onward={
            <p>
              <Link to="/app" className={buttonClasses('primary')}>
                Open the console
              </Link>
            </p>
          }
        />
      </Steps>
    </OpenFrame>
  );
}

type SetupLink = Reply<'GET /setup/{token}'>;

function ProviderSummary({ link }: { readonly link: SetupLink }) {
  const found = link.providers.filter(({ kind }) => kind !== 'demo').map(({ name }) => name);
  if (found.length === 0) {
    return (
      <p>
        No provider is configured, so the built-in demo model responds, offline and free. Add your own provider later on
        the Providers page.
      </p>
    );
  }
  return (
    <p>
      {found.length === 1 ? 'Found a provider' : `Found ${found.length} providers`}:{' '}
      <span className="font-medium text-ink">{found.join(', ')}</span>. The test sends a short request to{' '}
      <code>{link.model}</code>, which is billed by the provider.
    </p>
  );
}

function InvalidLink({ state }: { readonly state: Session['state'] }) {
  if (state !== 'setup') {
    const isIn = state === 'signed_in';
    return (
      <OpenFrame title="Tollgate is already set up" lead="The setup link was used to create the first owner.">
        <Link to="/app" className={buttonClasses('primary')}>
          {isIn ? 'Open the console' : 'Sign in'}
        </Link>
        {!isIn && <p className="text-sm text-ink-3">No account yet? Ask an owner or admin for an invitation.</p>}
      </OpenFrame>
    );
  }
  return (
    <OpenFrame
      wide
      title="This link is no longer valid"
      lead="A setup link works once within 15 minutes. This one has expired, was replaced or is incomplete."
    >
      <div className="flex min-w-0 flex-col gap-2 text-read">
        <p>Create a new link in the gateway’s folder and open it here:</p>
        <CodeBlock text="bin/tollgate setup-link" what="command" />
      </div>
    </OpenFrame>
  );
}
