/** Renders links that download a table as a file. */
import { Download } from 'lucide-react';
import { buttonClasses } from '../ui/button.tsx';

/** The server sets the file name. */
export function FileLink({ href, children }: { readonly href: string; readonly children: string }) {
  return (
    <a href={href} download className={buttonClasses()}>
      <Download size={14} aria-hidden="true" />
      {children}
    </a>
  );
}
