/** Explains how to get the setup link while the console has no owner. */
import { useSession } from '../../lib/session.ts';
import { OpenFrame } from '../../shell/open-frame.tsx';
import { Button } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/code-block.tsx';

export default function UnclaimedPage() {
  const session = useSession();
  return (
    <OpenFrame
      wide
      title="Nobody owns this console yet"
      lead="Its first owner comes in by a one-time link. Whoever can see the gateway’s terminal can open it."
    >
      <ol className="flex list-decimal flex-col gap-4 pl-5 text-read marker:text-ink-3">
        <li>
          The link was printed when the gateway first started, and works for 15 minutes. It ends in{' '}
          <code>/app/setup?token=…</code>
        </li>
        <li className="min-w-0">
          <p className="mb-2">If those are over, print a new one in the folder where the gateway runs:</p>
          <CodeBlock text="bin/tollgate setup-link" what="command" />
        </li>
        <li>Open the link in this browser. Setting up takes less than a minute.</li>
      </ol>
      <p>
        <Button busy={session.isFetching} onClick={() => void session.refetch()}>
          Look again
        </Button>
      </p>
      <p className="text-sm text-ink-3">Calls are served all the same: an API key is all they need.</p>
    </OpenFrame>
  );
}
