/** Asks for a range of days and offers the file for download. */
import { Download } from 'lucide-react';
import { useState } from 'react';
import { useZone } from '../lib/zone.ts';
import { Button, FileLink } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { TextField } from '../ui/field.tsx';
import { monthRange, rangeInstants } from './day-range.ts';

interface RangeDownloadProps {
  /** Button label: "Statement CSV". */
  readonly name: string;
  /** Describes the file's content. */
  readonly lead: string;
  readonly urlOf: (range: { from: string; to: string }) => string;
}

export function RangeDownload({ name, lead, urlOf }: RangeDownloadProps) {
  const [open, setOpen] = useState(false);
  const zone = useZone();
  const [range, setRange] = useState(() => monthRange(new Date(), 0, zone));
  const instants = rangeInstants(range, zone);
  return (
    <>
      <Button icon={<Download size={14} />} onClick={() => setOpen(true)}>
        {name}
      </Button>
      {open && (
        <Dialog
          title={name}
          lead={`${lead} Days start at midnight in ${zone}.`}
          onClose={() => setOpen(false)}
          footer={
            <>
              <Button onClick={() => setOpen(false)}>Close</Button>
              {instants === null ? (
                <Button disabled>Download CSV</Button>
              ) : (
                <FileLink href={urlOf(instants)}>Download CSV</FileLink>
              )}
            </>
          }
        >
          <div className="flex flex-col gap-3">
            <div className="flex flex-wrap gap-2">
              <Button onClick={() => setRange(monthRange(new Date(), 0, zone))}>This month</Button>
              <Button onClick={() => setRange(monthRange(new Date(), 1, zone))}>Last month</Button>
            </div>
            <div className="grid gap-3 xs:grid-cols-2">
              <TextField
                label="First day"
                type="date"
                value={range.first}
                onChange={({ target }) => setRange({ ...range, first: target.value })}
              />
              <TextField
                label="Last day"
                type="date"
                value={range.last}
                error={instants === null ? 'Must be on or after the first day.' : null}
                errorStays
                onChange={({ target }) => setRange({ ...range, last: target.value })}
              />
            </div>
          </div>
        </Dialog>
      )}
    </>
  );
}
