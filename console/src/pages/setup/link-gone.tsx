/** Explains why a setup link does not work: it was used, has expired, or lacks its token. */

import type { Session } from '../../lib/session.ts';
import { Link } from '../../route/link.tsx';
import { OpenFrame } from '../../shell/open-frame.tsx';
import { buttonClasses } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/code-block.tsx';

export function LinkGone({ state }: { readonly state: Session['state'] }) {
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
