/** Renders the reasons for a result: each check, and whether it passes. */
import { Check, X } from 'lucide-react';

interface Reason {
  readonly passes: boolean;
  readonly text: string;
}

export function Reasons({ reasons, label }: { readonly reasons: readonly Reason[]; readonly label: string }) {
  return (
    <ol aria-label={label} className="flex flex-col gap-1.5">
      {reasons.map(({ passes, text }, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: steps are identified by position, two may have the same text
        <li key={at} className="flex items-start gap-2">
          {passes ? (
            <Check size={15} className="mt-0.5 shrink-0 text-green" aria-label="Allowed" />
          ) : (
            <X size={15} className="mt-0.5 shrink-0 text-red" aria-label="Blocked" />
          )}
          <span className="min-w-0">{text}</span>
        </li>
      ))}
    </ol>
  );
}
