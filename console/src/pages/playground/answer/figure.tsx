/** Renders one figure of an answer, and how it differs from that of the original request. */
import type { ReactNode } from 'react';

interface FigureProps {
  readonly name: string;
  /** Against the original request; null: not known, or no request is compared with. */
  readonly difference?: string | null;
  readonly children: ReactNode;
}

export function Figure({ name, difference = null, children }: FigureProps) {
  return (
    <div>
      <dt className="text-sm text-ink-2">{name}</dt>
      <dd className="font-medium">
        {children}
        {difference !== null && (
          <span className="ml-1.5 font-normal text-ink-2" title="Compared with the original request">
            {difference}
          </span>
        )}
      </dd>
    </div>
  );
}
