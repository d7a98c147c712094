/** Owns the links that download a table as a file. */
import { Download } from 'lucide-react';
import { buttonClasses } from '../ui/button.tsx';

/** The browser saves it; the server names it. */
export function FileLink({ href, children }: { readonly href: string; readonly children: string }) {
  return (
    <a href={href} download className={buttonClasses()}>
      <Download size={14} aria-hidden="true" />
      {children}
    </a>
  );
}
