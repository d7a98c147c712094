/** Renders code and JSON, always as text, and buttons that copy a text. */
import { Check, Copy } from 'lucide-react';
import { useEffect, useState } from 'react';
import { copyText } from '../lib/insecure-context.ts';
import { Button, IconButton } from './button.tsx';
import { toast } from './toasts.tsx';

export function CodeBlock({
  text,
  copied = text,
  what,
  wraps = false,
}: {
  readonly text: string;
  /** What is copied, where the text has spaces for reading. */
  readonly copied?: string;
  readonly what: string;
  readonly wraps?: boolean;
}) {
  return (
    <div className="flex min-w-0 items-start rounded-md border border-line bg-sunken">
      <section
        aria-label={what}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: axe requires scrollable content to be focusable
        tabIndex={0}
        className="max-h-96 min-w-0 flex-1 overflow-auto py-2.5 pl-3"
      >
        <pre className={wraps ? 'break-all whitespace-pre-wrap' : ''}>{text}</pre>
      </section>
      <CopyIcon text={copied} what={what} className="m-1.5 shrink-0" />
    </div>
  );
}

const SHOWN_MS = 1_600;

function useCopy(text: string): readonly [copied: boolean, copy: () => void] {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = () => {
    copyText(text).then((done) => {
      setCopied(done);
      if (!done) toast({ tone: 'bad', text: 'The browser blocked copying. Select the text and copy it manually.' });
    });
  };
  return [copied, copy];
}

/** A small icon next to the copied text. `what`: "request id". */
export function CopyIcon({
  text,
  what,
  className = '',
}: {
  readonly text: string;
  readonly what: string;
  readonly className?: string;
}) {
  const [copied, copy] = useCopy(text);
  return (
    <IconButton label={copied ? 'Copied' : `Copy ${what}`} onClick={copy} className={`size-6! ${className}`}>
      {copied ? <Check size={14} className="text-green" /> : <Copy size={14} />}
    </IconButton>
  );
}

export function CopyButton({ text, what }: { readonly text: string; readonly what: string }) {
  const [copied, copy] = useCopy(text);
  return (
    <Button onClick={copy} icon={copied ? <Check size={14} className="text-green" /> : <Copy size={14} />}>
      {copied ? 'Copied' : `Copy ${what}`}
    </Button>
  );
}
