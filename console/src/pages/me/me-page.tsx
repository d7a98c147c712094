/** Renders the user's own account page: name, password, second factor, passkeys, sessions. */
import { useReply } from '../../lib/queries.ts';
import { useSession } from '../../lib/session.ts';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Page, Panel, Section, SkeletonPanel } from '../../ui/page.tsx';
import { ServicePanel } from './oidc-panel.tsx';
import { PasskeyPanel } from './passkey-panel.tsx';
import { NamePanel, PasswordPanel } from './person-panels.tsx';
import { SecondFactorPanel } from './second-factor-panel.tsx';
import { SessionPanel } from './session-panel.tsx';
import { ZonePanel } from './zone-panel.tsx';

export default function MePage() {
  const me = useReply('GET /me', {});
  const session = useSession();
  return (
    <Page title="Profile" lead="Your name, time zone, sign-in methods and sessions">
      <div className="flex max-w-200 flex-col gap-6">
        {me.error !== null && <ErrorNote error={me.error} onRetry={() => void me.refetch()} />}
        {me.data === undefined && me.error === null && (
          <>
            <SkeletonPanel heightPx={150} />
            <SkeletonPanel heightPx={150} />
            <SkeletonPanel heightPx={120} />
          </>
        )}
        {me.data !== undefined && (
          <>
            <NamePanel name={me.data.person.name} email={me.data.person.email} isVerified={me.data.email_verified} />
            <ZonePanel saved={me.data.person.time_zone} />
            {me.data.has_password ? (
              <>
                <PasswordPanel />
                <SecondFactorPanel isOn={me.data.totp} />
              </>
            ) : (
              <Section title="Password">
                <Panel className="p-4 text-ink-2">
                  You sign in with another service, which manages your password and two-factor authentication.
                </Panel>
              </Section>
            )}
            <PasskeyPanel
              passkeys={me.data.passkeys}
              hasPassword={me.data.has_password}
              isServed={session.data?.passkeys === true}
            />
            <ServicePanel services={me.data.services} hasPassword={me.data.has_password} />
            <SessionPanel sessions={me.data.sessions} />
          </>
        )}
      </div>
    </Page>
  );
}
