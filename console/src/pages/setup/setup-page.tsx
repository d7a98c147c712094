/** Renders the page of the one-time setup link: creates the owner, then a key, then a first request. */

import { useState } from 'react';
import { useReply } from '../../lib/queries.ts';
import { type Session, useSession } from '../../lib/session.ts';
import { Link } from '../../route/link.tsx';
import { useSearch } from '../../route/route.ts';
import { OpenFrame } from '../../shell/open-frame.tsx';
import { buttonClasses } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { SkeletonPanel } from '../../ui/skeleton.tsx';
import { FirstKeySteps } from '../first-request/first-key-steps.tsx';
import { Step, Steps } from '../first-request/steps.tsx';
import { LinkGone } from './link-gone.tsx';
import { OwnerForm } from './owner-form.tsx';
import { ProviderWords } from './provider-words.tsx';

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
    return <LinkGone state={session.data.state} />;
  return (
    <SetupSteps token={token} session={session.data} link={setup.data} workspace={workspace} onCreated={setWorkspace} />
  );
}

interface SetupStepsProps {
  readonly token: string;
  readonly session: Session;
  readonly link: Parameters<typeof ProviderWords>[0]['link'];
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
          about={<ProviderWords link={link} />}
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
