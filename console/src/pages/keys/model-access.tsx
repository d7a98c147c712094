/** Checks whether a key may call a model, and shows every reason. */

import { type FormEvent, useId, useState } from 'react';
import { PROTOCOL_CHOICES, type Protocol } from '../../lib/protocols.ts';
import { useReply } from '../../lib/queries.ts';
import { Reasons } from '../../policy/reasons.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { CONTROL, Field, SelectField } from '../../ui/field.tsx';
import { Panel, SkeletonLine } from '../../ui/page.tsx';

interface AccessQuery {
  readonly model: string;
  readonly protocol: Protocol;
}

export function ModelAccess({ account, apiKey }: { readonly account: string; readonly apiKey: string }) {
  const list = useId();
  const [draft, setDraft] = useState<AccessQuery>({ model: '', protocol: 'chat' });
  const [entered, setEntered] = useState<AccessQuery | null>(null);
  const models = useReply('GET /accounts/{account}/model-matches', { path: { account }, query: { patterns: '*' } });
  const answer = useReply(
    'GET /accounts/{account}/keys/{key}/may-call',
    { path: { account, key: apiKey }, query: entered ?? draft },
    { enabled: entered !== null },
  );

  function submit(event: FormEvent): void {
    event.preventDefault();
    const model = draft.model.trim();
    if (model !== '') setEntered({ ...draft, model });
  }

  return (
    <Panel className="flex flex-col gap-3 p-4">
      <form onSubmit={submit} className="flex flex-wrap items-end gap-2">
        <Field label="Model" className="min-w-48 flex-1">
          {(ids) => (
            <input
              {...ids}
              list={list}
              required
              autoComplete="off"
              spellCheck={false}
              placeholder="gpt-5"
              className={`${CONTROL} font-mono`}
              value={draft.model}
              onChange={({ target }) => setDraft({ ...draft, model: target.value })}
            />
          )}
        </Field>
        <datalist id={list}>
          {models.data?.models.map((model) => (
            <option key={model} value={model} />
          ))}
        </datalist>
        <SelectField
          label="Protocol"
          value={draft.protocol}
          onChange={({ target }) => setDraft({ ...draft, protocol: target.value as Protocol })}
        >
          {PROTOCOL_CHOICES.map(([protocol, title]) => (
            <option key={protocol} value={protocol}>
              {title}
            </option>
          ))}
        </SelectField>
        <Button type="submit" busy={entered !== null && answer.isFetching}>
          Check
        </Button>
      </form>
      {entered !== null && (
        <div role="status" className="flex flex-col gap-2 border-t border-line pt-3">
          {answer.error !== null && <ErrorNote error={answer.error} onRetry={() => void answer.refetch()} />}
          {answer.data === undefined && answer.error === null && <SkeletonLine width={60} />}
          {answer.data !== undefined && (
            <>
              <p className="flex items-center gap-2 text-read">
                <Badge tone={answer.data.may ? 'good' : 'bad'}>{answer.data.may ? 'Allowed' : 'Blocked'}</Badge>
                <span>
                  This key {answer.data.may ? 'can' : 'can’t'} use <code>{entered.model}</code>
                </span>
              </p>
              <Reasons reasons={answer.data.reasons} label="Reasons" />
            </>
          )}
        </div>
      )}
    </Panel>
  );
}
