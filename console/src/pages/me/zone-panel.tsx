/** Renders the user's choice of the time zone in which they see times of day. */
import { useMemo, useState } from 'react';
import { useAction } from '../../lib/queries.ts';
import { useAccount } from '../../lib/session.ts';
import { clockZone, exactTime } from '../../lib/zone.ts';
import { Button } from '../../ui/button.tsx';
import { ComboboxField } from '../../ui/combobox-field.tsx';
import { ErrorNote, memberError } from '../../ui/error-note.tsx';
import { SelectField } from '../../ui/field.tsx';
import { Panel, Section } from '../../ui/page.tsx';
import { toast } from '../../ui/toasts.tsx';
import { currentZoneName, findZones, zoneChoices } from '../settings/time-zones.ts';

const ACCOUNT = '';
const BROWSER = 'browser';
const OTHER = 'other';

/** `saved`: an IANA name, or `browser`; null: the account's zone. */
export function ZonePanel({ saved }: { readonly saved: string | null }) {
  const { time_zone: accountZone } = useAccount();
  const isNamed = saved !== null && saved !== BROWSER;
  const [kind, setKind] = useState(isNamed ? OTHER : (saved ?? ACCOUNT));
  const [zone, setZone] = useState(currentZoneName(isNamed ? saved : accountZone));
  const choices = useMemo(() => zoneChoices(zone), [zone]);
  const change = useAction('PATCH /me', ['GET /me', 'GET /session']);
  const chosen = kind === ACCOUNT ? null : kind === BROWSER ? BROWSER : zone;
  const fault = memberError(change.error, 'time_zone');
  const shown = clockZone(chosen, accountZone);
  return (
    <Section title="Time zone">
      <Panel className="flex flex-col gap-3 p-4">
        <form
          className="flex flex-wrap items-end gap-2"
          onSubmit={(event) => {
            event.preventDefault();
            change.mutate(
              { body: { time_zone: chosen } },
              { onSuccess: () => toast({ text: `Saved. Times are now shown in ${shown}.` }) },
            );
          }}
        >
          <SelectField
            label="Show times in"
            className="w-full sm:w-72"
            value={kind}
            onChange={({ target }) => setKind(target.value)}
          >
            <option value={ACCOUNT}>Account’s time zone ({accountZone})</option>
            <option value={BROWSER}>Browser’s time zone ({clockZone(BROWSER, accountZone)})</option>
            <option value={OTHER}>Another time zone</option>
          </SelectField>
          {kind === OTHER && (
            <ComboboxField
              label="Time zone"
              className="w-full sm:w-64"
              value={zone}
              error={fault}
              find={(text) => findZones(choices, text).map((choice) => choice.zone)}
              onChoose={setZone}
            />
          )}
          <Button type="submit" disabled={chosen === saved} busy={change.isPending}>
            Save time zone
          </Button>
        </form>
        <p className="text-ink-2">
          Now: {exactTime(new Date().toISOString(), shown)}. Ranges, days, budgets and statements always follow the
          account’s time zone.
        </p>
        {change.error !== null && fault === null && <ErrorNote error={change.error} />}
      </Panel>
    </Section>
  );
}
