/**
 * Renders the frame of a page (title, one primary action, filters, content), empty states, and placeholders while
 * loading.
 */
import { type ReactNode, useEffect } from 'react';
import { useClockZone, useZone } from '../lib/zone.ts';

interface PageProps {
  readonly title: string;
  /** One sentence about the purpose of the page. */
  readonly lead?: ReactNode;
  /** Whether the page shows times: it then names their time zone. */
  readonly hasTimes?: boolean;
  readonly action?: ReactNode;
  readonly filters?: ReactNode;
  readonly children: ReactNode;
}

export function Page({ title, lead, hasTimes = false, action, filters, children }: PageProps) {
  const [zone, days] = [useClockZone(), useZone()];
  useEffect(() => {
    document.title = `${title} · Tollgate`;
  }, [title]);
  return (
    <div className="mx-auto flex w-full max-w-[1280px] flex-col gap-4 px-4 pt-5 pb-16 sm:px-6">
      <header className="flex flex-wrap items-start justify-between gap-x-6 gap-y-3">
        <div className="min-w-0">
          <h1 className="text-title font-semibold tracking-[-0.01em]">{title}</h1>
          {(lead || hasTimes) && (
            <p className="max-w-[72ch] text-ink-2">
              {lead}{' '}
              {hasTimes && (
                <span className="inline-block text-ink-3">
                  Times in {zone}.{days === zone ? '' : ` Days start at midnight in ${days}.`}
                </span>
              )}
            </p>
          )}
        </div>
        {action && <div className="flex flex-wrap items-center gap-2 print:hidden">{action}</div>}
      </header>
      {filters && (
        <search aria-label="Filters" className="flex flex-wrap items-end gap-2 print:hidden">
          {filters}
        </search>
      )}
      {children}
    </div>
  );
}

/** A part of a page with its own heading. */
export function Section({
  title,
  aside,
  children,
}: {
  readonly title: string;
  readonly aside?: ReactNode;
  readonly children: ReactNode;
}) {
  return (
    <section className="flex min-w-0 flex-col gap-2">
      <header className="flex min-h-8 flex-wrap items-center justify-between gap-2">
        <h2 className="text-read font-semibold">{title}</h2>
        {aside}
      </header>
      {children}
    </section>
  );
}

/** A bordered surface. */
export function Panel({ children, className = '' }: { readonly children: ReactNode; readonly className?: string }) {
  return <div className={`min-w-0 rounded-lg border border-line bg-panel ${className}`}>{children}</div>;
}

export function Empty({
  title,
  children,
  action,
}: {
  readonly title: string;
  readonly children: ReactNode;
  readonly action?: ReactNode;
}) {
  return (
    <div className="flex flex-col items-center gap-3 rounded-lg border border-dashed border-line-strong px-6 py-12 text-center">
      <h2 className="text-read font-semibold">{title}</h2>
      <div className="max-w-[56ch] text-read text-ink-2">{children}</div>
      {action}
    </div>
  );
}

/** One line; width in percent. */
export function SkeletonLine({ width = 100 }: { readonly width?: number }) {
  return (
    <span
      className="block h-3.5 animate-[pulse-soft_1.6s_ease-in-out_infinite] rounded-sm bg-hover"
      style={{ width: `${width}%` }}
    />
  );
}

const WIDTHS = [72, 58, 80, 64, 70, 52, 76, 60];

/** Rows of a table or list. */
export function SkeletonRows({ rows = 6 }: { readonly rows?: number }) {
  return (
    <div role="status" aria-label="Loading" className="rounded-lg border border-line bg-panel">
      {Array.from({ length: rows }, (_, at) => at).map((at) => (
        <div key={at} className="flex h-8 items-center gap-6 border-b border-line px-3 last:border-0">
          <SkeletonLine width={(WIDTHS[at % WIDTHS.length] ?? 60) / 2} />
          <SkeletonLine width={(WIDTHS[(at + 3) % WIDTHS.length] ?? 60) / 3} />
        </div>
      ))}
    </div>
  );
}

/** A surface of the given height, for charts and cards. */
export function SkeletonPanel({ heightPx }: { readonly heightPx: number }) {
  return (
    <div
      role="status"
      aria-label="Loading"
      className="animate-[pulse-soft_1.6s_ease-in-out_infinite] rounded-lg border border-line bg-sunken"
      style={{ height: heightPx }}
    />
  );
}
