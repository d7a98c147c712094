/** Renders one model's answer while it streams: text, figures, and a link to its log record. */

import { Brain, MessageSquareReply, Wrench } from 'lucide-react';
import type { ReactNode } from 'react';
import { duration, wholeNumber } from '../../../lib/format.ts';
import { estimateText, exactUsd } from '../../../lib/money.ts';
import { useReply } from '../../../lib/queries.ts';
import { useAccount } from '../../../lib/session.ts';
import { Link } from '../../../route/link.tsx';
import { Button } from '../../../ui/button.tsx';
import { Panel } from '../../../ui/page.tsx';
import type { PriceView } from '../../models/model-facts.ts';
import { costDifferenceText, differenceText } from './difference.ts';
import { estimateCost } from './estimate.ts';
import { Figure } from './figure.tsx';
import type { OriginalFigures } from './original-pane.tsx';
import type { Run } from './use-run.ts';

interface AnswerPaneProps {
  readonly model: string;
  readonly price: PriceView | null;
  readonly run: Run | null;
  /** The request that is compared with; null: without a comparison. */
  readonly original: OriginalFigures | null;
  /** Goes on with this answer. */
  readonly onContinue: (text: string) => void;
}

export function AnswerPane({ model, price, run, original, onContinue }: AnswerPaneProps) {
  return (
    <Panel className="flex min-h-64 flex-col lg:min-h-105">
      <header className="flex flex-wrap items-center gap-x-4 gap-y-1 border-b border-line px-4 py-2.5">
        <h2 className="min-w-0 flex-1 truncate text-read font-semibold" title={model}>
          {model}
        </h2>
        {run?.requestId != null && run.state !== 'running' && (
          <Link
            to="/app/logs/{-$request}"
            names={{ request: run.requestId }}
            className="text-accent underline underline-offset-2"
          >
            View log
          </Link>
        )}
      </header>
      <section
        aria-label={`Response from ${model}`}
        aria-live="polite"
        aria-busy={run?.state === 'running'}
        className="flex flex-1 flex-col gap-3 px-4 py-3"
      >
        {run === null ? <p className="text-ink-3">The response streams here.</p> : <AnswerText run={run} />}
        {run?.state === 'done' && <Continue run={run} onContinue={onContinue} />}
      </section>
      {run !== null && <Figures run={run} price={price} original={original} />}
    </Panel>
  );
}

function AnswerText({ run }: { readonly run: Run }) {
  const { text, reasoning, toolCalls, finish } = run.answer;
  return (
    <>
      {reasoning !== '' && (
        <details>
          <summary className="inline-flex items-center gap-1.5 text-ink-2">
            <Brain size={13} aria-hidden="true" /> Reasoning
          </summary>
          <p className="mt-1 border-l-2 border-line pl-3 break-words whitespace-pre-wrap text-ink-2">{reasoning}</p>
        </details>
      )}
      {text !== '' && <p className="text-read break-words whitespace-pre-wrap">{text}</p>}
      {toolCalls.map(({ name, input }, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: calls are identified by position
        <div key={at}>
          <p className="flex items-center gap-1.5 text-ink-2">
            <Wrench size={13} aria-hidden="true" /> Tool call <code>{name}</code>
          </p>
          <pre className="mt-1 break-all whitespace-pre-wrap">{input}</pre>
        </div>
      ))}
      {run.state === 'running' && run.firstTokenMs === null && <p className="text-ink-3">Waiting for first token…</p>}
      {run.state === 'stopped' && <p className="text-amber">Stopped. Tokens generated so far are billed.</p>}
      {run.failure !== null && (
        <p role="alert" className="rounded-md border border-red/35 bg-red-soft px-3 py-2 break-words">
          {run.failure}
        </p>
      )}
      {(finish === 'length' || finish === 'max_tokens' || finish === 'max_output_tokens') && (
        <p className="text-amber">
          Stopped at the output token limit. Increase “Max output tokens” for a longer response.
        </p>
      )}
    </>
  );
}

function Continue({ run, onContinue }: { readonly run: Run } & Pick<AnswerPaneProps, 'onContinue'>) {
  const { text, toolCalls } = run.answer;
  if (toolCalls.length > 0) return <p className="text-ink-3">The playground doesn’t run tools, so it ends here.</p>;
  if (text === '') return null;
  return (
    <p>
      <Button icon={<MessageSquareReply size={14} aria-hidden="true" />} onClick={() => onContinue(text)}>
        Continue conversation
      </Button>
    </p>
  );
}

interface FiguresProps {
  readonly run: Run;
  readonly price: PriceView | null;
  readonly original: OriginalFigures | null;
}

function Figures({ run, price, original }: FiguresProps) {
  const estimate = estimateCost(price, run.promptChars, run.answer);
  const { usage } = run.answer;
  return (
    <dl className="figures flex flex-wrap gap-x-8 gap-y-2 border-t border-line px-4 py-2.5 whitespace-nowrap">
      <Figure name="First token" difference={differenceText(run.firstTokenMs, original?.firstTokenMs ?? null)}>
        {run.firstTokenMs === null ? '–' : duration(run.firstTokenMs)}
      </Figure>
      <Figure name="Duration" difference={differenceText(run.totalMs, original?.durationMs ?? null)}>
        {run.totalMs === null ? '–' : duration(run.totalMs)}
      </Figure>
      <Figure name="Tokens in / out">
        {usage === null
          ? `– / ~${wholeNumber(estimate?.outputTokens ?? 0)}`
          : `${wholeNumber(usage.input + usage.cacheRead + usage.cacheWrite5m + usage.cacheWrite1h)} / ${wholeNumber(Math.max(usage.output, estimate?.outputTokens ?? 0))}`}
      </Figure>
      <Settled run={run} original={original}>
        {estimate === null ? 'No price' : `~${estimateText(estimate.picoUsd)}`}
      </Settled>
    </dl>
  );
}

/** The charged amount once the call is recorded; until then, or when the record is not readable, the estimate. */
function Settled({ run, original, children }: Omit<FiguresProps, 'price'> & { readonly children: ReactNode }) {
  const { account, may } = useAccount();
  const { data } = useReply(
    'GET /accounts/{account}/logs/{request}',
    { path: { account, request: run.requestId ?? '' } },
    { enabled: run.state === 'done' && run.requestId !== null && may('logs.read') },
  );
  const cost = data?.call.cost_nano_usd ?? null;
  return cost === null ? (
    <Figure name="Estimated cost">{children}</Figure>
  ) : (
    <Figure name="Charged" difference={costDifferenceText(cost, original?.costNanoUsd ?? null)}>
      {exactUsd(cost)}
    </Figure>
  );
}
