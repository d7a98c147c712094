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
      <OpenFrame title="This console is set up" lead="The link was for its first owner, and is used up.">
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
      title="This link does not work"
      lead="A set-up link works once and for 15 minutes, and a new one replaces it. This one is over, or was not copied whole."
    >
      <div className="flex min-w-0 flex-col gap-2 text-read">
        <p>Print a new one in the folder where the gateway runs, and open it here:</p>
        <CodeBlock text="bin/tollgate setup-link" what="command" />
      </div>
    </OpenFrame>
  );
}
