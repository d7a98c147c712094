/** Renders the sign-in page. It keeps the requested address, whose page follows after sign-in. */
import type { ReactNode } from 'react';
import type { Session } from '../../lib/session.ts';
import { useSearch } from '../../route/route.ts';
import { OpenFrame } from '../../shell/open-frame.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { SignInSteps } from './code-step.tsx';
import { oidcRefusal } from './oidc-refusal.ts';

interface SignInPageProps {
  readonly session: Session;
  /** True when a page waits behind the sign-in page. */
  readonly resumesPage: boolean;
}

export default function SignInPage({ session, resumesPage }: SignInPageProps) {
  const { error } = useSearch();
  const refusal = oidcRefusal(error);
  const isSecond = session.state === 'second_factor';
  return (
    <OpenFrame title={isSecond ? 'Two-factor authentication' : 'Sign in'} lead={leadOf(session, resumesPage)}>
      {refusal !== null && !isSecond && <ErrorNote error={new Error(refusal)} />}
      <SignInSteps session={session} />
      {!isSecond && (
        <p className="text-sm text-ink-3">
          Forgot your password? Ask an owner or admin for a reset link, or have the gateway operator run{' '}
          <code className="break-all">bin/tollgate reset-password EMAIL</code>
        </p>
      )}
      {!isSecond && (
        <p className="text-sm text-ink-3">
          No account yet? Ask an owner or admin for an invitation. API requests use an API key instead.
        </p>
      )}
    </OpenFrame>
  );
}

function leadOf(session: Session, resumesPage: boolean): ReactNode {
  if (session.state === 'second_factor') return 'Enter the code from your authenticator app.';
  if (resumesPage) return 'Your session has expired. Sign in to continue where you left off.';
  return <Where session={session} />;
}

function Where({ session }: { readonly session: Session }) {
  return (
    <>
      Console of <span className="font-medium text-ink">{hostOf(session.public_url)}</span>
    </>
  );
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : location.host;
}
