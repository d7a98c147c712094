/** Owns choosing the span of time of a page: presets in one row, and two times of one's own. */
import { CalendarRange } from 'lucide-react';
import { useState } from 'react';
import { useFilters } from '../lib/search.ts';
import { instantOf, useZone, wallTime } from '../lib/zone.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { TextField } from '../ui/field.tsx';
import { Segmented } from '../ui/segmented.tsx';
import { PRESETS, type Preset, rangeText, type TimeRange } from './time-range.ts';

export function RangeChoice({ range }: { readonly range: TimeRange }) {
  const [, change] = useFilters();
  const [open, setOpen] = useState(false);
  const zone = useZone();
  return (
    <div className="flex flex-wrap items-center gap-2">
      <Segmented<Preset | 'own'>
        label="Range of time"
        value={range.preset ?? 'own'}
        choices={PRESETS.map((preset) => [preset, preset] as const)}
        onChoose={(preset) => change({ range: preset, from: undefined, to: undefined })}
      />
      <Button
        icon={<CalendarRange size={14} aria-hidden="true" />}
        aria-pressed={range.preset === null}
        className="aria-pressed:border-accent aria-pressed:text-accent-strong"
        onClick={() => setOpen(true)}
      >
        {range.preset === null ? rangeText(range, zone) : 'Custom'}
      </Button>
      {open && <OwnRange range={range} onClose={() => setOpen(false)} />}
    </div>
  );
}

function OwnRange({ range, onClose }: { readonly range: TimeRange; readonly onClose: () => void }) {
  const [, change] = useFilters();
  const zone = useZone();
  const [from, setFrom] = useState(wallTime(range.from, zone));
  const [to, setTo] = useState(wallTime(range.to, zone));
  const [begin, end] = [instantOf(from, zone), instantOf(to, zone)];
  const isRange = begin !== null && end !== null && begin < end;
  const apply = () => {
    if (!isRange) return;
    change({ range: undefined, from: begin.toISOString(), to: end.toISOString() });
    onClose();
  };
  return (
    <Dialog
      title="Range of time"
      lead={`Times in ${zone}.`}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" disabled={!isRange} onClick={apply}>
            Show this range
          </Button>
        </>
      }
    >
      <form
        className="grid gap-3 sm:grid-cols-2"
        onSubmit={(event) => {
          event.preventDefault();
          apply();
        }}
      >
        <TextField label="From" type="datetime-local" value={from} onChange={(event) => setFrom(event.target.value)} />
        <TextField
          label="To"
          type="datetime-local"
          value={to}
          error={isRange ? null : 'The end must be after the beginning.'}
          onChange={(event) => setTo(event.target.value)}
        />
        <button type="submit" hidden aria-hidden="true" tabIndex={-1} />
      </form>
    </Dialog>
  );
}
