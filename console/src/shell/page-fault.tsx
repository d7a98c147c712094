/** Owns what is shown where a page broke, or there is none: words and a way on. */
import { type ErrorComponentProps, Link } from '@tanstack/react-router';
import { Button, buttonClasses } from '../ui/button.tsx';
import { Empty } from '../ui/empty.tsx';
import { ErrorNote } from '../ui/error-note.tsx';
import { Page } from '../ui/page.tsx';

export function PageFault({ error, reset }: ErrorComponentProps) {
  return (
    <Page title="This page did not work" lead="What you changed before is kept; only the page is not shown.">
      <ErrorNote error={error instanceof Error ? error : new Error(String(error))} onRetry={reset} />
      <p>
        <Button onClick={() => location.reload()}>Reload the page</Button>
      </p>
    </Page>
  );
}

export function NoPage() {
  return (
    <Page title="No such page">
      <Empty
        title="There is nothing at this address"
        action={
          <Link to="/app" className={buttonClasses('primary')}>
            Go to the home page
          </Link>
        }
      >
        The address may be mistyped, or what it showed is gone.
      </Empty>
    </Page>
  );
}
