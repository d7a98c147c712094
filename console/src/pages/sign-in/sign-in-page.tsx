/** Renders the sign-in page. It keeps the requested address, whose page follows after sign-in. */
import type { ReactNode } from 'react';
import type { Session } from '../../lib/session.ts';
import { useSearch } from '../../route/route.ts';
import { OpenFrame } from '../../shell/open-frame.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { oidcRefusal } from './oidc-refusal.ts';
import { SignInSteps } from './sign-in-steps.tsx';

interface SignInPageProps {
  readonly session: Session;
  /** True when a page waits behind the sign-in page. */
  readonly continuesCall: boolean;
}

export default function SignInPage({ session, continuesCall }: SignInPageProps) {
  const { error } = useSearch();
  const refusal = oidcRefusal(error);
  const isSecond = session.state === 'second_factor';
  return (
    <OpenFrame title={isSecond ? 'One more step' : 'Sign in'} lead={leadOf(session, continuesCall)}>
      {refusal !== null && !isSecond && <ErrorNote error={new Error(refusal)} />}
      <SignInSteps session={session} />
      {!isSecond && (
        <p className="text-sm text-ink-3">
          Password forgotten? An owner or admin makes you a link to a new one on the page of members; whoever runs the
          gateway prints one: <code className="break-all">bin/tollgate reset-password EMAIL</code>
        </p>
      )}
      {!isSecond && (
        <p className="text-sm text-ink-3">
          No account yet? Ask an owner or admin for an invitation. Calls need no account: they use an API key.
        </p>
      )}
    </OpenFrame>
  );
}

function leadOf(session: Session, continuesCall: boolean): ReactNode {
  if (session.state === 'second_factor') return 'Your password is right. This account has a second factor.';
  if (continuesCall) return 'Your session has ended. The page behind this one is as you left it, for you alone.';
  return <Where session={session} />;
}

function Where({ session }: { readonly session: Session }) {
  return (
    <>
      to the console of <span className="font-medium text-ink">{hostOf(session.public_url)}</span>
    </>
  );
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : location.host;
}
