/** Renders the page of an invitation link: its content, and accepting it as a new or an existing user. */
import { useState } from 'react';
import type { Reply } from '../../../../gateway/src/console-api/contract/contract.ts';
import { sentenceCase } from '../../lib/format.ts';
import { useAction, useReply } from '../../lib/queries.ts';
import { clearSession, type Session, saveSession, useSession } from '../../lib/session.ts';
import { Link } from '../../route/link.tsx';
import { useNavigate, usePathNames } from '../../route/route.ts';
import { OpenFrame } from '../../shell/open-frame.tsx';
import { Button, buttonClasses } from '../../ui/button.tsx';
import { ErrorNote, memberError } from '../../ui/error-note.tsx';
import { PasswordField, TextField } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { SkeletonPanel } from '../../ui/page.tsx';
import { roleText } from '../members/roles.ts';
import { SignInSteps } from '../sign-in/code-step.tsx';

type Invitation = Reply<'GET /invitations/{token}'>;

export default function InvitationPage() {
  const { token = '' } = usePathNames();
  const session = useSession();
  const invitation = useReply('GET /invitations/{token}', { path: { token } });
  const failure = invitation.error ?? session.error;
  if (failure !== null) {
    const retry = () => void (invitation.error === null ? session.refetch() : invitation.refetch());
    return (
      <OpenFrame title="Invitation">
        <ErrorNote error={failure} onRetry={retry} />
      </OpenFrame>
    );
  }
  if (invitation.data === undefined || session.data === undefined) {
    return (
      <OpenFrame title="Invitation">
        <SkeletonPanel heightPx={220} />
      </OpenFrame>
    );
  }
  if (!invitation.data.valid) return <InvalidInvitation isIn={session.data.state === 'signed_in'} />;
  return <Open token={token} invitation={invitation.data} session={session.data} />;
}

interface OpenProps {
  readonly token: string;
  readonly invitation: Invitation;
  readonly session: Session;
}

function Open({ token, invitation, session }: OpenProps) {
  const navigate = useNavigate();
  const account = invitation.account ?? '';
  const email = invitation.email ?? '';
  const join = async (joined: Session) => {
    await saveSession(joined);
    navigate({ to: '/app', search: { account }, replace: true });
  };
  return (
    <OpenFrame
      title={`Join ${account}`}
      lead={
        <>
          {invitation.invited_by ?? 'An admin'} invited you as{' '}
          <span className="font-medium text-ink">{sentenceCase(invitation.role ?? '')}</span>.{' '}
          {invitation.role !== null && roleText(invitation.role, account)}
        </>
      }
    >
      {session.state === 'signed_in' ? (
        <AsSignedIn token={token} account={account} email={email} session={session} onJoined={join} />
      ) : (
        <AsNewUser token={token} account={account} email={email} session={session} onJoined={join} />
      )}
    </OpenFrame>
  );
}

/** Offers both ways to everyone: the link must not reveal whether the address has an account. */
function AsNewUser({ token, account, email, session, onJoined }: AsSignedInProps) {
  const [isUser, setIsUser] = useState(session.state === 'second_factor');
  return (
    <>
      {isUser ? (
        <SignInSteps session={session} emailGiven={email} />
      ) : (
        <NewPersonForm token={token} account={account} email={email} onJoined={onJoined} />
      )}
      <p className="text-sm text-ink-3">
        {isUser ? 'New to this console?' : 'Already have a user with this email address or a linked sign-in service?'}{' '}
        <Button kind="quiet" onClick={() => setIsUser(!isUser)}>
          {isUser ? 'Create user' : 'Sign in'}
        </Button>
      </p>
    </>
  );
}

interface AsSignedInProps {
  readonly token: string;
  readonly account: string;
  readonly email: string;
  readonly session: Session;
  readonly onJoined: (session: Session) => void;
}

function AsSignedIn({ token, account, email, session, onJoined }: AsSignedInProps) {
  const accept = useAction('POST /invitations/{token}');
  const signOut = useAction('POST /sign-out');
  const own = session.person?.email ?? '';
  if (own.toLowerCase() !== email.toLowerCase()) {
    return (
      <>
        <p className="text-read">
          This invitation is for <strong>{email}</strong>, but you’re signed in as <strong>{own}</strong>.
        </p>
        {signOut.error !== null && <ErrorNote error={signOut.error} />}
        <Button
          kind="primary"
          busy={signOut.isPending}
          onClick={() => signOut.mutate({ body: {} }, { onSuccess: clearSession })}
        >
          Sign out to continue
        </Button>
      </>
    );
  }
  return (
    <>
      {accept.error !== null && <ErrorNote error={accept.error} />}
      <Button
        kind="primary"
        busy={accept.isPending}
        onClick={() =>
          accept.mutate({ path: { token }, body: { name: null, password: null } }, { onSuccess: onJoined })
        }
      >
        Join {account} as {own}
      </Button>
    </>
  );
}

function InvalidInvitation({ isIn }: { readonly isIn: boolean }) {
  return (
    <OpenFrame
      title="This invitation is no longer valid"
      lead="It was used, revoked, replaced by a newer one, or is more than seven days old. Ask for a new invitation."
    >
      <Link to="/app" className={buttonClasses('plain')}>
        {isIn ? 'Open the console' : 'Sign in'}
      </Link>
    </OpenFrame>
  );
}

interface NewPersonFormProps {
  readonly token: string;
  readonly account: string;
  readonly email: string;
  readonly onJoined: (session: Session) => void;
}

function NewPersonForm({ token, account, email, onJoined }: NewPersonFormProps) {
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const accept = useAction('POST /invitations/{token}');
  return (
    <Form
      label="Your account"
      error={accept.error}
      members={['name', 'password']}
      onSubmit={() => accept.mutate({ path: { token }, body: { name, password } }, { onSuccess: onJoined })}
      foot={
        <Button type="submit" kind="primary" busy={accept.isPending}>
          Join {account}
        </Button>
      }
    >
      <TextField
        label="Name"
        autoComplete="name"
        required
        value={name}
        onChange={(event) => setName(event.target.value)}
        error={memberError(accept.error, 'name')}
      />
      <TextField label="Email" type="email" autoComplete="username" readOnly value={email} />
      <PasswordField
        label="Password"
        autoComplete="new-password"
        hint="At least 12 characters."
        value={password}
        onValue={setPassword}
        error={memberError(accept.error, 'password')}
      />
    </Form>
  );
}
