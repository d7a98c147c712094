/** Asks which columns the table of requests has. Loaded when it is first opened. */
import { useState } from 'react';
import { type CallColumn, COLUMN_NAMES, USUAL_COLUMNS } from '../../../../../gateway/src/lib/query/call-columns.ts';
import { useFilters } from '../../../route/route.ts';
import { Button } from '../../../ui/button.tsx';
import { CheckField } from '../../../ui/field.tsx';
import { FormDialog } from '../../../ui/form.tsx';
import { COLUMN_HEADS, columnsOf } from './call-columns.tsx';

export default function ColumnsDialog({ onClose }: { readonly onClose: () => void }) {
  const [search, change] = useFilters();
  const before = columnsOf(search.columns);
  const [chosen, setChosen] = useState(new Set(before));
  const apply = (columns: readonly CallColumn[] | null) => {
    change({ columns: columns?.join(',') });
    onClose();
  };
  // Those shown keep their order; new ones follow.
  const next = [...before, ...COLUMN_NAMES.filter((name) => !before.includes(name))].filter((name) => chosen.has(name));
  return (
    <FormDialog
      title="Columns"
      label="Columns"
      lead="Links, saved views and CSV files of this page have the same columns."
      submitLabel="Apply columns"
      busy={false}
      error={null}
      members={[]}
      extra={
        <Button kind="quiet" className="mr-auto" onClick={() => apply(null)}>
          Usual columns
        </Button>
      }
      onSubmit={() => next.length > 0 && apply(isUsual(next) ? null : next)}
      onClose={onClose}
    >
      <div className="grid grid-cols-2 gap-x-4 gap-y-2">
        {COLUMN_NAMES.map((name) => (
          <CheckField
            key={name}
            label={COLUMN_HEADS[name]}
            checked={chosen.has(name)}
            onChange={({ target }) =>
              setChosen(
                (known) => new Set(target.checked ? [...known, name] : [...known].filter((one) => one !== name)),
              )
            }
          />
        ))}
      </div>
      {next.length === 0 && (
        <p role="alert" className="text-sm text-red">
          Choose at least one column.
        </p>
      )}
    </FormDialog>
  );
}

const isUsual = (columns: readonly CallColumn[]) => columns.join() === USUAL_COLUMNS.join();
