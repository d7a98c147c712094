/** Renders error messages for pages that failed or do not exist, with a way to continue. */
import { Component, type ReactNode, Suspense } from 'react';
import { PartNotLoaded, retryParts } from '../lib/part.ts';
import { Link } from '../route/link.tsx';
import { usePathname } from '../route/route.ts';
import { Button, buttonClasses } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { ErrorNote } from '../ui/error-note.tsx';
import { Empty, Page } from '../ui/page.tsx';

interface FaultBoundaryProps {
  /** A change of the address resets the fault. */
  readonly pathname: string;
  /** Set around a dialog: the page behind it stays when the dialog fails. */
  readonly onClose?: () => void;
  /** Set around a part of a page: the rest of the page stays. */
  readonly isPanel?: boolean;
  readonly children: ReactNode;
}

interface Fault {
  readonly cause: unknown;
}

/** Renders its children, or a message when they fail. */
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
    const retry = () => {
      retryParts();
      this.setState({ fault: null });
    };
    const { onClose, isPanel = false } = this.props;
    if (isPanel) return <ErrorNote error={errorOf(fault.cause)} onRetry={retry} />;
    return onClose === undefined ? (
      <PageFault error={fault.cause} onRetry={retry} />
    ) : (
      <Dialog title="Something went wrong" onClose={onClose}>
        <ErrorNote error={errorOf(fault.cause)} onRetry={retry} />
      </Dialog>
    );
  }
}

function PageFault({ error, onRetry }: { readonly error: unknown; readonly onRetry: () => void }) {
  return (
    <Page
      title={error instanceof PartNotLoaded ? 'Couldn’t load this page' : 'Something went wrong on this page'}
      lead="Your saved changes aren’t affected."
    >
      <ErrorNote error={errorOf(error)} onRetry={onRetry} />
      <p>
        <Button onClick={() => location.reload()}>Reload page</Button>
      </p>
    </Page>
  );
}

function errorOf(cause: unknown): Error {
  return cause instanceof Error ? cause : new Error(String(cause));
}

interface DialogPartProps {
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** Wraps a dialog part: when it cannot be loaded, the page behind it stays. */
export function DialogPart({ onClose, children }: DialogPartProps) {
  return (
    <FaultBoundary pathname={usePathname()} onClose={onClose}>
      <Suspense>{children}</Suspense>
    </FaultBoundary>
  );
}

interface PanelPartProps {
  /** Shown while the part is loaded. Default: nothing. */
  readonly fallback?: ReactNode;
  readonly children: ReactNode;
}

/** Wraps a panel part of a page. */
export function PanelPart({ fallback, children }: PanelPartProps) {
  return (
    <FaultBoundary pathname={usePathname()} isPanel>
      <Suspense fallback={fallback}>{children}</Suspense>
    </FaultBoundary>
  );
}

export function NoPage() {
  return (
    <Page title="Page not found">
      <Empty
        title="Nothing found at this address"
        action={
          <Link to="/app" className={buttonClasses('primary')}>
            Go to Home
          </Link>
        }
      >
        The address may be mistyped, or the item may have been deleted.
      </Empty>
    </Page>
  );
}
