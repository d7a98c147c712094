/** Renders a collapsible part of a form. */
import { type ReactNode, useState } from 'react';

interface FoldProps {
  readonly title: string;
  /** Whether it is initially open. */
  readonly opens: boolean;
  /** Forces it open, because something in it must be visible. */
  readonly mustShow?: boolean;
  readonly children: ReactNode;
}

export function Fold({ title, opens, mustShow = false, children }: FoldProps) {
  const [isOpen, setOpen] = useState(opens);
  return (
    <details open={isOpen || mustShow} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="w-fit text-ink-2 hover:text-ink">{title}</summary>
      <div className="mt-2">{children}</div>
    </details>
  );
}
