/** Renders a field with a list of choices that narrows while the user types. The value is always one of the list. */
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import { classNames } from './class-names.ts';
import { CONTROL, Field } from './field.tsx';

interface ComboboxFieldProps {
  readonly label: string;
  readonly value: string;
  /** Matches for the typed text, best first; all for empty text. */
  readonly find: (text: string) => readonly string[];
  readonly onChoose: (value: string) => void;
  readonly disabled?: boolean;
  readonly error?: string | null;
  readonly className?: string;
}

export function ComboboxField({
  label,
  value,
  find,
  onChoose,
  disabled = false,
  error = null,
  className,
}: ComboboxFieldProps) {
  const list = useId();
  const listRef = useRef<HTMLDivElement>(null);
  /** Null: the list is closed and the field shows the value. */
  const [text, setText] = useState<string | null>(null);
  const [at, setAt] = useState(0);
  const isOpen = text !== null;
  const found = isOpen ? find(text) : [];
  useEffect(() => {
    if (isOpen) listRef.current?.children[at]?.scrollIntoView({ block: 'nearest' });
  }, [isOpen, at]);

  function open(typed: string): void {
    setText(typed);
    setAt(typed === '' ? Math.max(0, find('').indexOf(value)) : 0);
  }
  function choose(chosen: string | undefined): void {
    setText(null);
    if (chosen !== undefined && chosen !== value) onChoose(chosen);
  }
  function onKeyDown(event: KeyboardEvent<HTMLInputElement>): void {
    if (!isOpen) {
      if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
      event.preventDefault();
      open('');
      return;
    }
    if (event.key === 'ArrowDown') setAt(Math.min(found.length - 1, at + 1));
    else if (event.key === 'ArrowUp') setAt(Math.max(0, at - 1));
    else if (event.key === 'Enter') choose(found[at]);
    else if (event.key === 'Escape') setText(null);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  return (
    <Field label={label} error={error} {...(className === undefined ? {} : { className })}>
      {(ids) => (
        <div className="relative">
          <input
            {...ids}
            role="combobox"
            aria-expanded={isOpen}
            aria-controls={list}
            aria-autocomplete="list"
            aria-activedescendant={isOpen && found.length > 0 ? `${list}-${at}` : undefined}
            autoComplete="off"
            spellCheck={false}
            className={CONTROL}
            disabled={disabled}
            value={text ?? value}
            placeholder={isOpen ? value : undefined}
            onClick={() => {
              if (!isOpen) open('');
            }}
            onChange={({ target }) => open(target.value)}
            onBlur={() => setText(null)}
            onKeyDown={onKeyDown}
          />
          <div
            ref={listRef}
            id={list}
            role="listbox"
            aria-label={label}
            hidden={!isOpen}
            className="absolute inset-x-0 top-9 z-30 max-h-64 overflow-y-auto rounded-md border border-line bg-raised p-1 shadow-float"
          >
            {found.map((one, nth) => (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the field keeps the focus and handles the keys
              <div
                key={one}
                id={`${list}-${nth}`}
                role="option"
                tabIndex={-1}
                aria-selected={one === value}
                className={classNames(
                  'flex h-8 cursor-pointer items-center rounded-sm px-2 hover:bg-hover',
                  nth === at && 'bg-hover',
                  one === value && 'font-medium',
                )}
                onMouseDown={(event) => event.preventDefault()}
                onClick={() => choose(one)}
              >
                {one}
              </div>
            ))}
          </div>
          <p role="status" className={found.length > 0 || !isOpen ? 'sr-only' : 'mt-1 text-sm text-ink-2'}>
            {isOpen && found.length === 0 ? 'No results' : ''}
          </p>
        </div>
      )}
    </Field>
  );
}
