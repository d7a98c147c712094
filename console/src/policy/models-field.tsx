/** Renders the choice of models by name patterns, with the models that match now. */
import { useReply } from '../lib/queries.ts';
import { useDebounced } from '../lib/timers.ts';
import { classNames } from '../ui/class-names.ts';
import { Segmented, TextAreaField } from '../ui/field.tsx';
import { type ModelsDraft, readPatterns } from './model-patterns.ts';

interface ModelsFieldProps {
  readonly account: string;
  /** The workspace, whose own restriction also applies; null: none chosen yet. */
  readonly workspace: string | null;
  readonly draft: ModelsDraft;
  readonly fault: string | null;
  readonly onChange: (draft: ModelsDraft) => void;
}

export function ModelsField({ account, workspace, draft, fault, onChange }: ModelsFieldProps) {
  return (
    <div className="flex flex-col gap-2">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <span className="font-medium" aria-hidden="true">
          Models
        </span>
        <Segmented
          label="Models"
          value={draft.restricted ? 'some' : 'all'}
          choices={[
            ['all', 'All models'],
            ['some', 'Selected models'],
          ]}
          onChoose={(choice) => onChange({ ...draft, restricted: choice === 'some' })}
        />
      </div>
      {draft.restricted && (
        <TextAreaField
          label="Names and patterns"
          hint="One per line or comma-separated. * matches any characters."
          placeholder={'gpt-5*\nclaude-sonnet-*'}
          spellCheck={false}
          className="[&_textarea]:font-mono [&_textarea]:text-sm"
          value={draft.text}
          error={fault}
          onChange={({ target }) => onChange({ ...draft, text: target.value })}
        />
      )}
      <Matches account={account} workspace={workspace} draft={draft} />
    </div>
  );
}

function Matches({ account, workspace, draft }: Pick<ModelsFieldProps, 'account' | 'workspace' | 'draft'>) {
  const patterns = useDebounced(draft.restricted ? readPatterns(draft.text).join(',') : '*');
  const { data, error } = useReply(
    'GET /accounts/{account}/model-matches',
    { path: { account }, query: { patterns, ...(workspace === null ? {} : { workspace }) } },
    { enabled: patterns !== '', keepsPrevious: true },
  );
  if (patterns === '') return null;
  if (error !== null) return <p className="text-sm text-amber">Couldn’t load the matching models: {error.message}</p>;
  const models = data?.models;
  if (models === undefined) return <p className="text-sm text-ink-3">Matching…</p>;
  if (models.length === 0)
    return <p className="text-sm text-amber">No models match, so no requests would be allowed.</p>;
  return (
    <details className="text-sm">
      <summary className="w-fit text-ink-2 hover:text-ink">
        Matches <span className="figures font-medium text-ink">{models.length}</span>{' '}
        {models.length === 1 ? 'model' : 'models'}
      </summary>
      <ul
        className={classNames(
          'mt-1.5 grid max-h-40 gap-x-4 overflow-y-auto rounded-md border border-line bg-sunken px-3 py-2 font-mono',
          models.length > 4 && 'sm:grid-cols-2',
        )}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: axe requires scrollable content to be focusable
        tabIndex={0}
        aria-label="Matching models"
      >
        {models.map((model) => (
          <li key={model} className="truncate">
            {model}
          </li>
        ))}
      </ul>
    </details>
  );
}
