/** Renders an empty state: what the page is for, and one next step. */
import type { ReactNode } from 'react';

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
