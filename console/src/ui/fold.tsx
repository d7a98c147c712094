/** Owns a part of a form that is folded away until somebody wants it. */
import { type ReactNode, useState } from 'react';

interface FoldProps {
  readonly title: string;
  /** Whether it begins open. */
  readonly opens: boolean;
  /** Something in it has to be seen. */
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
