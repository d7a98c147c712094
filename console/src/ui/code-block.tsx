/** Renders code and JSON, always as text, with a copy button. */
import { CopyIcon } from './copy-button.tsx';

export function CodeBlock({
  text,
  what,
  wraps = false,
}: {
  readonly text: string;
  readonly what: string;
  readonly wraps?: boolean;
}) {
  return (
    <div className="relative min-w-0 rounded-md border border-line bg-sunken">
      <section
        aria-label={what}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: axe requires scrollable content to be focusable
        tabIndex={0}
        className="max-h-96 overflow-auto py-2.5 pr-10 pl-3"
      >
        <pre className={wraps ? 'break-all whitespace-pre-wrap' : ''}>{text}</pre>
      </section>
      <CopyIcon text={text} what={what} className="absolute top-1.5 right-1.5 bg-sunken" />
    </div>
  );
}
