/** Renders an API error: its message, and a link to the page where it can be fixed. */
import { CircleAlert } from 'lucide-react';
import { ApiError, type MemberFault } from '../lib/api.ts';

/** Texts of links whose page has another name than its path. */
const LINKS: Readonly<Record<string, string>> = { '/app/keys': 'Open API keys', '/app/sign-in': 'Sign in' };

/** Replaces content that failed to load, or appears above the buttons of a failed act. */
export function ErrorNote({ error, onRetry }: { readonly error: Error; readonly onRetry?: () => void }) {
  const page = error instanceof ApiError ? error.page : null;
  return (
    <div role="alert" className="flex items-start gap-2 rounded-md border border-red/35 bg-red-soft px-3 py-2">
      <CircleAlert size={16} aria-hidden="true" className="mt-0.5 shrink-0 text-red" />
      <div className="min-w-0 flex-1">
        <p className="text-ink">{sentence(error.message.replace(/^(q|\w+\.\d[\w.]*): /, ''))}</p>
        {(page !== null || onRetry !== undefined) && (
          <p className="mt-1 flex gap-3">
            {page !== null && (
              <a href={page} className="font-medium text-accent underline underline-offset-2">
                {LINKS[page] ?? `Open ${page.split('/')[2] ?? 'page'}`}
              </a>
            )}
            {onRetry !== undefined && (
              <button type="button" onClick={onRetry} className="font-medium text-accent underline underline-offset-2">
                Retry
              </button>
            )}
          </p>
        )}
      </div>
    </div>
  );
}

/** The error message of a member's field, without the member's name. */
export function memberError(error: ApiError | null, member: string): string | null {
  const message = error?.faults.find((fault) => isOf(member, fault))?.message;
  return message === undefined ? null : sentence(message.replace(/^[a-z_]\w*(\.\w+)*: /, ''));
}

/** Whether a field shows a fault: that of its member, or of an item of it. */
function isOf(member: string, fault: MemberFault): boolean {
  return fault.member.startsWith(member) && /^(\.\d|$)/.test(fault.member.slice(member.length));
}

/** Whether every invalid member has a field, which shows its error. */
export function isPlaced({ faults }: ApiError, members: readonly string[]): boolean {
  return faults.length > 0 && faults.every((fault) => members.some((member) => isOf(member, fault)));
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
