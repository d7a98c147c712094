/**
 * Renders the payloads of a call: the conversation and the raw bodies. Says when bodies are not stored or not visible
 * to the user.
 */

import { part } from '../../lib/part.ts';
import { useAccount } from '../../lib/session.ts';
import { Link } from '../../route/link.tsx';
import { PanelPart } from '../../shell/page-fault.tsx';
import { Section } from '../../ui/page.tsx';
import type { CallDetail } from './call-cost.tsx';

const KeptBodies = part(() => import('./stored-payloads.tsx'));

export function CallBodies({ detail }: { readonly detail: CallDetail }) {
  if (detail.content !== 'shown') return <NoBodies detail={detail} />;
  return (
    <PanelPart>
      <KeptBodies detail={detail} />
    </PanelPart>
  );
}

function NoBodies({ detail }: { readonly detail: CallDetail }) {
  const account = useAccount();
  return (
    <Section title="Prompts & responses">
      {detail.content === 'hidden' ? (
        <p className="text-ink-2">
          Prompts and responses are stored, but your role can’t view them. An admin can change your role.
        </p>
      ) : (
        <p className="text-ink-2">
          Prompts and responses aren’t stored: storage is off in the workspace <strong>{detail.call.workspace}</strong>,
          or the retention period has ended.{' '}
          {account.may('workspaces.write') ? (
            <>
              <Link to="/app/workspaces" className="text-accent underline underline-offset-2">
                Change the workspace’s policy
              </Link>{' '}
              to store future ones.
            </>
          ) : (
            'An admin can turn on storage under Workspaces.'
          )}
        </p>
      )}
    </Section>
  );
}
