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
      title="Tollgate isn’t set up yet"
      lead="Open the one-time setup link from the gateway’s terminal to create the first owner."
    >
      <ol className="flex list-decimal flex-col gap-4 pl-5 text-read marker:text-ink-3">
        <li>
          The link was printed when the gateway first started and is valid for 15 minutes. It ends in{' '}
          <code>/app/setup?token=…</code>
        </li>
        <li className="min-w-0">
          <p className="mb-2">If it has expired, create a new one in the gateway’s folder:</p>
          <CodeBlock text="bin/tollgate setup-link" what="command" />
        </li>
        <li>Open the link in this browser. Setup takes less than a minute.</li>
      </ol>
      <p>
        <Button busy={session.isFetching} onClick={() => void session.refetch()}>
          Retry
        </Button>
      </p>
      <p className="text-sm text-ink-3">Requests with an API key are served in the meantime.</p>
    </OpenFrame>
  );
}
