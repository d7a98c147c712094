/** Lists the targets of a request in the order of trial, in the sentences that every member of an account may read. */
import { ArrowRight, CircleStop, CornerDownRight } from 'lucide-react';
import type { Protocol } from '../../lib/protocols.ts';
import { useReply } from '../../lib/queries.ts';
import { useAccount } from '../../lib/session.ts';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Panel, SkeletonPanel } from '../../ui/page.tsx';

const OUTCOMES = {
  goes: { icon: ArrowRight, word: 'Routes to', tone: 'text-green' },
  // biome-ignore lint/suspicious/noThenProperty: a member of the API contract; this object is never awaited
  then: { icon: CornerDownRight, word: 'Then', tone: 'text-ink-2' },
  stops: { icon: CircleStop, word: 'Blocked', tone: 'text-red' },
} as const;

interface RouteStepsProps {
  readonly model: string;
  readonly protocol: Protocol;
  /** '': any key. */
  readonly keyId: string;
}

export function RouteSteps({ model, protocol, keyId }: RouteStepsProps) {
  const { account } = useAccount();
  const { data, error, refetch } = useReply(
    'GET /accounts/{account}/models/{model}/dry-run',
    { path: { account, model }, query: { protocol, ...(keyId === '' ? {} : { key: keyId }) } },
    { keepsPrevious: true },
  );
  if (error !== null) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <SkeletonPanel heightPx={72} />;
  return (
    <Panel>
      <ol className="divide-y divide-line" aria-live="polite">
        {data.steps.map(({ outcome, text }, at) => {
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
  );
}
