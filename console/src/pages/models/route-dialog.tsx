/** Edits the targets of a model and the choice among them. */
import { ArrowUp, Plus, X } from 'lucide-react';
import { useState } from 'react';
import { useAction, useReply } from '../../lib/queries.ts';
import { useAccount } from '../../lib/session.ts';
import { isEmpty } from '../../policy/read.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { memberError } from '../../ui/error-note.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/form.tsx';
import { toast } from '../../ui/toasts.tsx';
import {
  changesTo,
  faultsOf,
  fieldsOf,
  moveUp,
  newTarget,
  parseTargets,
  type RouteView,
  type Strategy,
  type TargetFields,
  TOUCHES,
  withStrategy,
} from './route-form.ts';

const STRATEGIES: readonly (readonly [value: Strategy | '', words: string])[] = [
  ['', 'Default: by weight, else in order'],
  ['order', 'In order'],
  ['weight', 'By weight'],
  ['latency', 'Lowest latency'],
  ['price', 'Lowest price'],
];

function strategyOf({ definition }: RouteView): Strategy | '' {
  return STRATEGIES.find(([value]) => value === definition?.routing?.strategy)?.[0] ?? '';
}

interface RouteDialogProps {
  readonly route: RouteView;
  readonly onClose: () => void;
}

export function RouteDialog({ route: current, onClose }: RouteDialogProps) {
  const { account } = useAccount();
  // A snapshot: others may change the route while this form is open.
  const [route] = useState(current);
  const [rows, setRows] = useState(() => fieldsOf(route));
  const [strategy, setStrategy] = useState(() => strategyOf(route));
  const providers = useReply('GET /accounts/{account}/providers', { path: { account } });
  const names = providers.data?.providers.map(({ name }) => name) ?? [];
  const create = useAction('POST /accounts/{account}/routes', TOUCHES);
  const change = useAction('PATCH /accounts/{account}/routes/{model}', TOUCHES);
  const { model, definition } = route;
  const done = {
    onSuccess: () => {
      toast({ text: `Saved the targets of ${model}. Applies from the next request.`, tone: 'good' });
      onClose();
    },
  };
  const submit = () => {
    if (rows.some((row) => Object.keys(faultsOf(row)).length > 0)) return;
    const filled = { targets: parseTargets(rows), routing: withStrategy(definition?.routing, strategy) };
    if (definition === null) {
      create.mutate({ path: { account }, body: { model, ...filled } }, done);
      return;
    }
    const body = changesTo(route, filled);
    if (isEmpty(body)) onClose();
    else change.mutate({ path: { account, model }, body }, done);
  };
  const error = create.error ?? change.error ?? providers.error;
  /** The errors of the rows as they were sent name their places. */
  const arrange = (arranged: readonly TargetFields[]) => {
    create.reset();
    change.reset();
    setRows(arranged);
  };
  const set = (changed: TargetFields) => setRows(rows.map((row) => (row.id === changed.id ? changed : row)));
  return (
    <FormDialog
      title={`Targets of ${model}`}
      label="Targets"
      submitLabel="Save targets"
      busy={create.isPending || change.isPending}
      error={error}
      members={rows.flatMap((_, at) => ROW_MEMBERS.map((name) => memberAt(at, name)))}
      wide
      onSubmit={submit}
      onClose={onClose}
    >
      <SelectField
        label="Strategy"
        hint="The order in which targets of one priority are tried."
        value={strategy}
        onChange={(event) => setStrategy(STRATEGIES.find(([value]) => value === event.target.value)?.[0] ?? '')}
      >
        {STRATEGIES.map(([value, words]) => (
          <option key={value} value={value}>
            {words}
          </option>
        ))}
      </SelectField>
      {rows.map((row, at) => (
        <TargetRow
          key={row.id}
          title={`Target ${at + 1}`}
          row={row}
          providers={names}
          model={model}
          onChange={set}
          errorOf={(name) => memberError(error, memberAt(at, name))}
          onMoveUp={at === 0 ? null : () => arrange(moveUp(rows, at))}
          onRemove={rows.length === 1 ? null : () => arrange(rows.filter(({ id }) => id !== row.id))}
        />
      ))}
      <Button
        icon={<Plus size={14} aria-hidden="true" />}
        disabled={names.length === 0}
        onClick={() => setRows([...rows, newTarget(rows, names[0] ?? '')])}
      >
        Add target
      </Button>
    </FormDialog>
  );
}

const ROW_MEMBERS = ['provider', 'model', 'priority', 'weight', 'max_concurrency', 'tags'] as const;
type RowMember = (typeof ROW_MEMBERS)[number];

function memberAt(at: number, name: RowMember): string {
  return `targets.${at}.${name}`;
}

interface TargetRowProps {
  readonly title: string;
  readonly row: TargetFields;
  readonly providers: readonly string[];
  readonly model: string;
  /** The error of the API. */
  readonly errorOf: (member: RowMember) => string | null;
  readonly onChange: (row: TargetFields) => void;
  /** Null: it is the first. */
  readonly onMoveUp: (() => void) | null;
  /** Null: the last one stays. */
  readonly onRemove: (() => void) | null;
}

function TargetRow({ title, row, providers, model, errorOf, onChange, onMoveUp, onRemove }: TargetRowProps) {
  const faults = faultsOf(row);
  const listed = providers.includes(row.provider) ? providers : [row.provider, ...providers];
  const number = (label: string, name: 'priority' | 'weight' | 'maxConcurrency', placeholder: string) => (
    <TextField
      label={label}
      inputMode="numeric"
      placeholder={placeholder}
      value={row[name]}
      error={faults[name] ?? errorOf(name === 'maxConcurrency' ? 'max_concurrency' : name)}
      errorStays={faults[name] !== undefined}
      onChange={(event) => onChange({ ...row, [name]: event.target.value })}
    />
  );
  return (
    <fieldset className="flex flex-col gap-3 rounded-md border border-line p-3">
      <legend className="px-1 font-medium">{title}</legend>
      <div className="flex flex-wrap items-end gap-x-3 gap-y-2">
        <SelectField
          label="Provider"
          className="flex-1 basis-32"
          value={row.provider}
          error={errorOf('provider')}
          onChange={(event) => onChange({ ...row, provider: event.target.value })}
        >
          {listed.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </SelectField>
        <TextField
          label="Provider’s model"
          className="flex-1 basis-32"
          placeholder={model}
          spellCheck={false}
          value={row.model}
          error={errorOf('model')}
          onChange={(event) => onChange({ ...row, model: event.target.value })}
        />
        <div className="ml-auto flex">
          {/* At the top it stays, with the focus. */}
          <IconButton
            label={`Move ${title.toLowerCase()} up`}
            aria-disabled={onMoveUp === null || undefined}
            className="aria-disabled:opacity-50"
            onClick={() => onMoveUp?.()}
          >
            <ArrowUp size={16} />
          </IconButton>
          {onRemove !== null && (
            <IconButton label={`Remove ${title.toLowerCase()}`} onClick={onRemove}>
              <X size={16} />
            </IconButton>
          )}
        </div>
      </div>
      <div className="grid grid-cols-2 gap-3 sm:grid-cols-4">
        {number('Priority', 'priority', '1')}
        {number('Weight', 'weight', 'None')}
        {number('Max concurrency', 'maxConcurrency', 'Any')}
        <TextField
          label="Tags"
          placeholder="None"
          spellCheck={false}
          value={row.tags}
          error={errorOf('tags')}
          onChange={(event) => onChange({ ...row, tags: event.target.value })}
        />
      </div>
    </fieldset>
  );
}
