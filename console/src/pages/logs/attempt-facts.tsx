/**
 * Renders how an attempt ended and why it was made, below its bar: only what differs from a plain first attempt, so that
 * a request with one attempt stays short.
 */
import { counted, duration, sentenceCase } from '../../lib/format.ts';
import { shortUsd } from '../../lib/money.ts';
import { attemptText, failureText } from '../../routing/routing-words.ts';
import { CopyIcon } from '../../ui/code-block.tsx';
import { Facts } from '../../ui/facts.tsx';
import type { Attempt } from './waterfall-layout.ts';

interface AttemptFactsProps {
  readonly attempt: Attempt;
  /** Its times are then in the breakdown of the request. */
  readonly isOnly: boolean;
}

export function AttemptFacts({ attempt, isOnly }: AttemptFactsProps) {
  const { upstream_request_id: upstreamId, message } = attempt;
  const outcome = outcomeText(attempt);
  const facts = describeAttempt(attempt, isOnly);
  if (outcome === null && facts.length === 0 && upstreamId === undefined && message === undefined) return null;
  return (
    <div className="figures col-span-full flex flex-col text-sm text-ink-2">
      {(outcome !== null || facts.length > 0) && (
        <p>
          {outcome !== null && <span className="font-medium text-red">{outcome}</span>}
          {outcome !== null && facts.length > 0 && ' · '}
          <Facts facts={facts} />
        </p>
      )}
      {message !== undefined && <p className="break-words">“{message}”</p>}
      {upstreamId !== undefined && (
        <p className="flex min-w-0 items-center gap-1.5">
          <span className="shrink-0">Provider’s request ID</span>
          <code className="min-w-0 truncate" title={upstreamId}>
            {upstreamId}
          </code>
          <CopyIcon text={upstreamId} what="provider’s request ID" />
        </p>
      )}
    </div>
  );
}

/** The cost of a failed attempt, whose members only operators get; null: the provider bills nothing. */
function costText({ billed, cost_nano_usd: cost }: Attempt): string | null {
  if (billed === undefined) return null;
  const isKnown = cost !== undefined && cost !== null;
  return `${isKnown ? shortUsd(cost) : 'Unpriced'}, ${billed === 'yes' ? 'billed' : 'maybe billed'} by the provider`;
}

/** How the attempt failed; null: it did not. */
function outcomeText({ class: failureClass, error }: Attempt): string | null {
  if (failureClass !== undefined) return failureText(failureClass);
  return error === null ? null : sentenceCase(error);
}

const PHASES: Readonly<Record<NonNullable<Attempt['phase']>, string | null>> = {
  connect: 'Before the request was sent',
  sent: 'Before a response began',
  head: 'Before the first content',
  content: null,
};

/** A shorter pause is drawn, but not told. */
const PAUSE_MIN_MS = 20;

/** Exported for tests. */
export function describeAttempt(attempt: Attempt, isOnly: boolean): readonly string[] {
  const { provider, model, target, why, wait_ms, phase, ttfb_ms, ttft_ms } = attempt;
  const { credential, format, exchanges, door, region } = attempt;
  return [
    phase === undefined ? null : PHASES[phase],
    attemptText(why),
    target === undefined || target === `${provider}/${model}` ? null : `Target ${target}`,
    wait_ms === undefined || wait_ms < PAUSE_MIN_MS ? null : `Paused ${duration(wait_ms)} before`,
    isOnly || ttfb_ms == null ? null : `First byte ${duration(ttfb_ms)}`,
    isOnly || ttft_ms == null ? null : `First token ${duration(ttft_ms)}`,
    credential === undefined ? null : `Credential ${credential}`,
    format === undefined ? null : `Translated to ${format}`,
    door === undefined ? null : `Service ${door}`,
    region === undefined ? null : `Region ${region}`,
    exchanges === undefined || exchanges === 1 ? null : counted(exchanges, 'exchange'),
    costText(attempt),
  ].filter((fact) => fact !== null);
}
