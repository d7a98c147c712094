/** Asks for a calendar period or a custom time range, in the account's zone. Loaded when first opened. */
import { useState } from 'react';
import { instantOf, useZone, wallTime } from '../lib/zone.ts';
import { useFilters } from '../route/route.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { TextField } from '../ui/field.tsx';
import { CALENDAR_LABELS, type Calendar, type TimeRange } from './time-range.ts';

export default function OwnRange({ range, onClose }: { readonly range: TimeRange; readonly onClose: () => void }) {
  const [, change] = useFilters();
  const zone = useZone();
  const [from, setFrom] = useState(wallTime(range.from, zone));
  const [to, setTo] = useState(wallTime(range.to, zone));
  const [begin, end] = [instantOf(from, zone), instantOf(to, zone)];
  const isRange = begin !== null && end !== null && begin < end;
  const choose = (calendar: Calendar) => {
    change({ range: calendar, from: undefined, to: undefined });
    onClose();
  };
  const apply = () => {
    if (!isRange) return;
    change({ range: undefined, from: begin.toISOString(), to: end.toISOString() });
    onClose();
  };
  return (
    <Dialog
      title="Time range"
      lead={`Times in ${zone}.`}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" disabled={!isRange} onClick={apply}>
            Apply range
          </Button>
        </>
      }
    >
      <fieldset className="mb-4 flex flex-wrap gap-2">
        <legend className="sr-only">Calendar periods</legend>
        {(Object.keys(CALENDAR_LABELS) as Calendar[]).map((calendar) => (
          <Button
            key={calendar}
            aria-pressed={calendar === range.calendar}
            className="aria-pressed:border-accent aria-pressed:text-accent-strong"
            onClick={() => choose(calendar)}
          >
            {CALENDAR_LABELS[calendar]}
          </Button>
        ))}
      </fieldset>
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
          error={isRange ? null : 'The end must be after the start.'}
          errorStays
          onChange={(event) => setTo(event.target.value)}
        />
        <button type="submit" hidden aria-hidden="true" tabIndex={-1} />
      </form>
    </Dialog>
  );
}
