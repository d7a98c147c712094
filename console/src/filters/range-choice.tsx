/** Renders the time range selector of a page: presets in one row; calendar periods and a custom range in a dialog. */
import { CalendarRange } from 'lucide-react';
import { useState } from 'react';
import { part } from '../lib/part.ts';
import { useZone } from '../lib/zone.ts';
import { useFilters } from '../route/route.ts';
import { DialogPart } from '../shell/page-fault.tsx';
import { Button } from '../ui/button.tsx';
import { Segmented } from '../ui/field.tsx';
import { CALENDAR_LABELS, PRESETS, type Preset, rangeText, type TimeRange } from './time-range.ts';

const OwnRange = part(() => import('./own-range.tsx'));

export function RangeChoice({ range }: { readonly range: TimeRange }) {
  const [, change] = useFilters();
  const [open, setOpen] = useState(false);
  const zone = useZone();
  return (
    <div className="flex flex-wrap items-center gap-2">
      <Segmented<Preset | 'own'>
        label="Time range"
        value={range.preset ?? 'own'}
        choices={PRESETS.map((preset) => [preset, preset] as const)}
        onChoose={(preset) => change({ range: preset, from: undefined, to: undefined })}
      />
      <Button
        icon={<CalendarRange size={14} aria-hidden="true" />}
        aria-pressed={range.preset === null}
        className="aria-pressed:border-accent aria-pressed:text-accent-strong"
        onPointerEnter={OwnRange.prefetch}
        onFocus={OwnRange.prefetch}
        onClick={() => setOpen(true)}
      >
        {range.calendar !== null && CALENDAR_LABELS[range.calendar]}
        {range.calendar === null && (range.preset === null ? rangeText(range, zone) : 'Custom')}
      </Button>
      {open && (
        <DialogPart onClose={() => setOpen(false)}>
          <OwnRange range={range} onClose={() => setOpen(false)} />
        </DialogPart>
      )}
    </div>
  );
}
