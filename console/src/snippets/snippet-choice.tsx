/** Renders a choice of snippets and the chosen one, ready to copy. */
import { useState } from 'react';
import { classNames } from '../ui/class-names.ts';
import { CodeBlock } from '../ui/code-block.tsx';
import type { Fill } from './snippet.ts';
import { SNIPPETS } from './snippets.ts';

interface SnippetChoiceProps {
  readonly fill: Fill;
  /** Id of the initial snippet; left out: the first of the list. */
  readonly first?: string;
}

export function SnippetChoice({ fill, first }: SnippetChoiceProps) {
  const [id, setId] = useState(first ?? SNIPPETS[0]?.id);
  const snippet = SNIPPETS.find((one) => one.id === id);
  return (
    <section aria-label="Snippets" className="flex flex-col gap-2">
      <fieldset className="flex flex-wrap gap-1">
        <legend className="sr-only">Client</legend>
        {SNIPPETS.map((one) => (
          <button
            key={one.id}
            type="button"
            aria-pressed={one.id === id}
            onClick={() => setId(one.id)}
            className={classNames(
              'h-7 rounded-sm px-2 transition-colors duration-120',
              one.id === id
                ? 'bg-accent-soft font-medium text-accent-strong'
                : 'text-ink-2 hover:bg-hover hover:text-ink',
            )}
          >
            {one.name}
          </button>
        ))}
      </fieldset>
      {snippet !== undefined && (
        <>
          {snippet.note !== null && <p className="text-sm text-ink-2">{snippet.note}</p>}
          {snippet.parts(fill).map(({ what, text }) => (
            <div key={what} className="flex min-w-0 flex-col gap-1">
              <span className="text-sm text-ink-3">{what}</span>
              <CodeBlock text={text} what={what} />
            </div>
          ))}
        </>
      )}
    </section>
  );
}
