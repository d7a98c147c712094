/** Renders the facts of a call: who, what, when, how it ended. */

import type { ReactNode } from 'react';
import { counted, duration } from '../../lib/format.ts';
import { RECORDED_TITLES } from '../../lib/protocols.ts';
import { useAccount } from '../../lib/session.ts';
import { Link } from '../../route/link.tsx';
import { ExactTime, Money } from '../../ui/amounts.tsx';
import { CopyIcon } from '../../ui/code-block.tsx';
import { RemedyLink } from '../status/remedy-link.tsx';
import type { CallDetail } from './call-cost.tsx';
import type { CallView } from './use-call-list.ts';
import { describeCrash, layOutAttempts } from './waterfall-layout.ts';

const SOURCE_LABELS: Readonly<Record<string, string>> = {
  upstream: 'Provider',
  partial: 'Provider, until the response was cut off',
  counted: 'Gateway estimate (the provider sent no counts)',
  checkpoint: 'Last checkpoint before the gateway stopped',
  void: 'None charged',
  cache: 'None: the answer is that of an earlier request',
};
const FLAG_TEXTS: Readonly<Record<NonNullable<CallView['usage_flags']>[number], string>> = {
  sum: 'the parts don’t add up to the total',
  cached: 'cached tokens exceed the input',
  reasoning: 'reasoning tokens exceed the output',
  inner_steps: 'the provider counts the steps of its own tools one by one',
  far_input: 'input tokens differ greatly from our estimate',
  far_output: 'output tokens differ greatly from our estimate',
  other_model: 'another model than the requested one answered',
  held_amount: 'the provider never reported usage: the reserved amount was charged',
};

interface CallSummaryProps {
  readonly call: CallView;
  readonly explanation: CallDetail['explanation'];
}

export function CallSummary({ call, explanation }: CallSummaryProps) {
  const account = useAccount();
  const hasTimes = describeCrash(call) === null;
  const { firstTokenMs, isMarked } = layOutAttempts(call);
  const isFirstToken = isMarked && firstTokenMs !== null;
  return (
    <div className="flex flex-col gap-4">
      {call.error !== null && <FailureNote call={call} explanation={explanation} />}
      {call.error === null && explanation !== null && (
        <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 rounded-md border border-amber/35 bg-amber-soft px-3 py-2">
          <p className="min-w-0 flex-1 basis-60 break-words">{explanation.sentence}</p>
          {explanation.remedy !== null && <RemedyLink remedy={explanation.remedy} />}
        </div>
      )}
      {call.usage_flags !== undefined && (
        <p className="rounded-md border border-amber/35 bg-amber-soft px-3 py-2">
          Look at the provider’s answer: {call.usage_flags.map((flag) => FLAG_TEXTS[flag]).join('; ')}. The token counts
          are billed as reported.
        </p>
      )}
      <dl className="grid grid-cols-[max-content_1fr] gap-x-5 gap-y-1.5 sm:grid-cols-[max-content_1fr_max-content_1fr]">
        <Fact name="Cost">
          <Money nanoUsd={call.cost_nano_usd} exact />
        </Fact>
        <Fact name="Time">
          <ExactTime at={call.at} />
        </Fact>
        <Fact name="Duration">{hasTimes ? duration(call.duration_ms) : 'Unknown'}</Fact>
        <Fact name={isFirstToken ? 'First token' : 'First byte'}>
          {isFirstToken
            ? duration(firstTokenMs)
            : call.ttfb_ms !== null
              ? duration(call.ttfb_ms)
              : hasTimes
                ? 'No response sent'
                : 'Unknown'}
        </Fact>
        <Fact name="Model">{call.model ?? 'None'}</Fact>
        <Fact name="Served by">
          {call.served_model === null ? 'Not sent to a provider' : `${call.served_model}, ${call.provider ?? ''}`}
        </Fact>
        <Fact name="API key">
          {account.may('keys.read') ? (
            <Link to="/app/keys/$key" names={{ key: call.key_id }} className="text-accent underline underline-offset-2">
              {call.key_name}
            </Link>
          ) : (
            call.key_name
          )}
        </Fact>
        <Fact name="Workspace">{call.workspace}</Fact>
        <Fact name="Protocol">{`${RECORDED_TITLES[call.protocol]}${call.stream ? ', streamed' : ''}`}</Fact>
        <Fact name="Finish reason">{call.finish_reason ?? 'None'}</Fact>
        {call.end_user !== null && <Fact name="End user">{call.end_user}</Fact>}
        {call.session !== null && <Fact name="Session">{call.session}</Fact>}
        {call.trace_id !== undefined && (
          <Fact name="Trace ID">
            <span className="flex min-w-0 items-center gap-1">
              <code className="min-w-0 truncate" title={call.trace_id}>
                {call.trace_id}
              </code>
              <CopyIcon text={call.trace_id} what="trace ID" />
            </span>
          </Fact>
        )}
        {call.cached_from !== undefined && (
          <Fact name="Cached answer of">
            <Link
              to="/app/logs/{-$request}"
              names={{ request: call.cached_from }}
              className="block min-w-0 truncate text-accent underline underline-offset-2"
            >
              {call.cached_from}
            </Link>
          </Fact>
        )}
        {call.masked !== undefined && (
          <Fact name="Masked by guardrails">
            {counted(
              Object.values(call.masked).reduce((sum, times) => sum + times, 0),
              'time',
            )}
          </Fact>
        )}
        <Fact name="Token count source">{SOURCE_LABELS[call.usage_source] ?? call.usage_source}</Fact>
      </dl>
    </div>
  );
}

/**
 * Shows why a call failed and the page where it can be fixed. Older records have no reason; for these, the error code.
 */
function FailureNote({ call, explanation }: CallSummaryProps) {
  return (
    <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 rounded-md border border-red/35 bg-red-soft px-3 py-2">
      <div className="min-w-0 flex-1 basis-60">
        <p className="break-words font-medium">{explanation?.sentence ?? 'The request failed.'}</p>
        <p className="text-sm text-ink-2">
          Status {call.status}, error code{' '}
          <a
            className="underline underline-offset-2"
            href={`/docs/errors/${call.error}`}
            target="_blank"
            rel="noreferrer"
          >
            <code>{call.error}</code>
          </a>
        </p>
      </div>
      {explanation?.remedy != null && <RemedyLink remedy={explanation.remedy} />}
    </div>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <>
      <dt className="text-ink-2">{name}</dt>
      <dd className="figures min-w-0 break-words">{children}</dd>
    </>
  );
}
