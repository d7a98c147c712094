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

const KeptBodies = part(() => import('./kept-bodies.tsx'));

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
    <Section title="Conversation">
      {detail.content === 'hidden' ? (
        <p className="text-ink-2">
          What was said is kept, but your role in this account may not read it. An admin can change your role.
        </p>
      ) : (
        <p className="text-ink-2">
          What was said is not kept: bodies are off in the workspace <strong>{detail.call.workspace}</strong>, or their
          time is over.{' '}
          {account.may('workspaces.write') ? (
            <>
              <Link to="/app/workspaces" className="text-accent underline underline-offset-2">
                The workspace’s policy
              </Link>{' '}
              says whether the next calls are kept.
            </>
          ) : (
            'An admin can turn them on for the next calls, under Workspaces.'
          )}
        </p>
      )}
    </Section>
  );
}
