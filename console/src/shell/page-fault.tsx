/** Owns what is shown where a page broke, or there is none: words and a way on. */
import { Component, type ReactNode } from 'react';
import { Link } from '../route/link.tsx';
import { Button, buttonClasses } from '../ui/button.tsx';
import { Empty } from '../ui/empty.tsx';
import { ErrorNote } from '../ui/error-note.tsx';
import { Page } from '../ui/page.tsx';

interface FaultBoundaryProps {
  /** Another address is another chance. */
  readonly pathname: string;
  readonly children: ReactNode;
}

interface Fault {
  readonly cause: unknown;
}

/** Shows what it holds, or that it broke. */
export class FaultBoundary extends Component<FaultBoundaryProps, { fault: Fault | null; pathname: string }> {
  override state = { fault: null as Fault | null, pathname: this.props.pathname };

  static getDerivedStateFromError(cause: unknown) {
    return { fault: { cause } };
  }

  static getDerivedStateFromProps({ pathname }: FaultBoundaryProps, known: { readonly pathname: string }) {
    return pathname === known.pathname ? null : { fault: null, pathname };
  }

  override render() {
    const { fault } = this.state;
    if (fault === null) return this.props.children;
    return <PageFault error={fault.cause} onRetry={() => this.setState({ fault: null })} />;
  }
}

function PageFault({ error, onRetry }: { readonly error: unknown; readonly onRetry: () => void }) {
  return (
    <Page title="This page did not work" lead="What you changed before is kept; only the page is not shown.">
      <ErrorNote error={error instanceof Error ? error : new Error(String(error))} onRetry={onRetry} />
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
