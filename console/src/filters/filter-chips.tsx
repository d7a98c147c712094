/** Renders the active filters, each with a remove button, and a control that adds one. */
import { ListFilter, X } from 'lucide-react';
import { useState } from 'react';
import { part } from '../lib/part.ts';
import { useFilters } from '../route/route.ts';
import { DialogPart } from '../shell/page-fault.tsx';
import { Button } from '../ui/button.tsx';
import { type FilterChipsProps, type FilterKind, filterChange, readWithout } from './filters.ts';

const AddFilter = part(() => import('./add-filter.tsx'));

export function FilterChips({ kinds, labels }: FilterChipsProps) {
  const [search, change] = useFilters();
  const [open, setOpen] = useState(false);
  const without = readWithout(search);
  const set = kinds.filter(
    ({ name, none }) => search[name] !== undefined || (none !== undefined && without.includes(name)),
  );
  return (
    <div className="flex min-w-0 flex-wrap items-center gap-2">
      {set.map((kind) => (
        <FilterChip
          key={kind.name}
          word={kind.word}
          label={labelOf(kind, search[kind.name], labels)}
          title={search[kind.name]}
          onRemove={() => change(filterChange(search, kind.name, undefined))}
        />
      ))}
      <Button
        data-filter
        icon={<ListFilter size={14} aria-hidden="true" />}
        onPointerEnter={AddFilter.prefetch}
        onFocus={AddFilter.prefetch}
        onClick={() => setOpen(true)}
      >
        Filter
      </Button>
      {open && (
        <DialogPart onClose={() => setOpen(false)}>
          <AddFilter kinds={kinds} labels={labels} onClose={() => setOpen(false)} />
        </DialogPart>
      )}
    </div>
  );
}

interface FilterChipProps {
  readonly word: string;
  readonly label: string;
  readonly title?: string | undefined;
  readonly onRemove: () => void;
}

export function FilterChip({ word, label, title, onRemove }: FilterChipProps) {
  return (
    <button
      type="button"
      onClick={onRemove}
      className="group inline-flex h-8 max-w-full items-center gap-1.5 rounded-md border border-accent/40 bg-accent-soft pr-2 pl-2.5 text-accent-strong hover:border-accent"
    >
      <span>{word}</span>
      <span className="max-w-80 truncate font-medium" title={title}>
        {label}
      </span>
      <span className="sr-only">, remove this filter</span>
      <X size={13} aria-hidden="true" className="shrink-0" />
    </button>
  );
}

function labelOf(kind: FilterKind, value: string | undefined, labels: FilterChipsProps['labels']): string {
  if (value === undefined) return kind.none ?? '';
  const label = labels.find((one) => one.filter === kind.name && one.value === value);
  return label?.label ?? [...(kind.only ?? []), ...(kind.known ?? [])].find(([known]) => known === value)?.[1] ?? value;
}
