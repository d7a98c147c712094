/** Renders the fields of a workspace's cache of answers, and the button that clears it. */
import { Button } from '../../ui/button.tsx';
import { Segmented, TextField } from '../../ui/field.tsx';
import { CACHE_MODES, CACHE_SECONDS_DEFAULT, type WorkspaceDraft } from './workspace.ts';

type CacheDraft = Pick<WorkspaceDraft, 'cache' | 'cacheSeconds'>;

interface CacheFieldsProps {
  readonly draft: CacheDraft;
  readonly fault: (member: string) => string | null;
  readonly onChange: (draft: CacheDraft) => void;
  /** Null: there is no cache to clear. */
  readonly clear: { readonly isPending: boolean; readonly onClear: () => void } | null;
}

export function CacheFields({ draft: { cache, cacheSeconds }, fault, onChange, clear }: CacheFieldsProps) {
  const cacheFault = fault('cache');
  return (
    <fieldset className="flex min-w-0 flex-col gap-3">
      <legend className="mb-2 font-semibold">Response cache</legend>
      <div className="flex flex-wrap items-center gap-3">
        <Segmented
          label="Answer requests from the cache"
          value={cache}
          choices={CACHE_MODES.map(([mode, name]) => [mode, name] as const)}
          onChoose={(chosen) => onChange({ cache: chosen, cacheSeconds })}
        />
        {clear !== null && (
          <Button onClick={clear.onClear} busy={clear.isPending}>
            Clear cache
          </Button>
        )}
      </div>
      <p className="text-ink-2">{CACHE_MODES.find(([mode]) => mode === cache)?.[2]}</p>
      {cacheFault !== null && (
        <p role="alert" tabIndex={-1} data-fault="" className="text-sm text-red">
          {cacheFault}
        </p>
      )}
      {cache !== 'off' && (
        <TextField
          label="Time to live (seconds)"
          inputMode="numeric"
          className="max-w-80"
          hint={`How long an answer is used. Leave blank for ${CACHE_SECONDS_DEFAULT} (1 hour).`}
          value={cacheSeconds}
          error={fault('cache_seconds')}
          onChange={({ target }) => onChange({ cache, cacheSeconds: target.value })}
        />
      )}
    </fieldset>
  );
}
