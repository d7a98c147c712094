/** Previews where a call would be routed, without sending it. */

import { ArrowRight, CircleStop, CornerDownRight } from 'lucide-react';
import { useState } from 'react';
import { PROTOCOL_CHOICES } from '../../lib/protocols.ts';
import { useReply } from '../../lib/queries.ts';
import { useAccount } from '../../lib/session.ts';
import { ErrorNote } from '../../ui/error-note.tsx';
import { CONTROL, Segmented } from '../../ui/field.tsx';
import { Panel, SkeletonPanel } from '../../ui/page.tsx';
import type { ModelView } from './model-facts.ts';

type Protocol = ModelView['protocols'][number];

const OUTCOMES = {
  goes: { icon: ArrowRight, word: 'Routes to', tone: 'text-green' },
  // biome-ignore lint/suspicious/noThenProperty: a member of the API contract; this object is never awaited
  then: { icon: CornerDownRight, word: 'Then', tone: 'text-ink-2' },
  stops: { icon: CircleStop, word: 'Blocked', tone: 'text-red' },
} as const;

export function RoutingPreview({ model }: { readonly model: ModelView }) {
  const { account, may } = useAccount();
  const [protocol, setProtocol] = useState<Protocol>(model.protocols[0] ?? 'chat');
  const [key, setKey] = useState('');
  const keys = useReply('GET /accounts/{account}/keys', { path: { account } }, { enabled: may('keys.read') });
  const run = useReply(
    'GET /accounts/{account}/models/{model}/dry-run',
    { path: { account, model: model.name }, query: { protocol, ...(key === '' ? {} : { key }) } },
    { keepsPrevious: true },
  );
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-2">
        <Segmented<Protocol> label="Protocol" value={protocol} choices={PROTOCOL_CHOICES} onChoose={setProtocol} />
        {keys.data !== undefined && keys.data.keys.length > 0 && (
          <label className="flex min-w-0 items-center gap-2">
            <span className="whitespace-nowrap text-ink-2">API key</span>
            <select
              className={`${CONTROL} w-auto max-w-56`}
              value={key}
              onChange={(event) => setKey(event.target.value)}
            >
              <option value="">Any</option>
              {keys.data.keys.map(({ id, name, last4 }) => (
                <option key={id} value={id}>
                  {name} (tg_…{last4})
                </option>
              ))}
            </select>
          </label>
        )}
      </div>
      {run.error !== null && <ErrorNote error={run.error} onRetry={() => void run.refetch()} />}
      {run.data === undefined && run.error === null && <SkeletonPanel heightPx={72} />}
      {run.data !== undefined && (
        <Panel>
          <ol className="divide-y divide-line" aria-live="polite">
            {run.data.steps.map(({ outcome, text }, at) => {
              const { icon: Icon, word, tone } = OUTCOMES[outcome];
              return (
                // biome-ignore lint/suspicious/noArrayIndexKey: steps are identified by position
                <li key={at} className="flex items-start gap-2.5 px-3 py-2">
                  <Icon size={15} aria-hidden="true" className={`mt-0.5 shrink-0 ${tone}`} />
                  <span className={`w-16 shrink-0 font-medium ${tone}`}>{word}</span>
                  <span className="min-w-0 break-words">{text}</span>
                </li>
              );
            })}
          </ol>
        </Panel>
      )}
      <p className="text-sm text-ink-3">No request is sent and no limit is used.</p>
    </div>
  );
}
