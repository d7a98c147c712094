/** Owns the facts of a call: who, what, when, how it ended. */

import type { ReactNode } from 'react';
import { duration } from '../../lib/numbers.ts';
import { useAccount } from '../../lib/session.ts';
import { Link } from '../../route/link.tsx';
import { ExactTime, Money } from '../../ui/amounts.tsx';
import type { CallView } from './call-list.ts';
import { describeCrash } from './waterfall-layout.ts';

const SOURCE_WORDS: Readonly<Record<string, string>> = {
  upstream: 'counted by the provider',
  partial: 'counted by the provider until the call broke off',
  counted: 'counted here: the provider did not say',
  checkpoint: 'as last kept before the process ended',
  void: 'none charged',
  cache: 'replayed from an earlier call',
};
const FLAG_WORDS: Readonly<Record<NonNullable<CallView['usage_flags']>[number], string>> = {
  sum: 'its parts do not come to the whole',
  cached: 'more was cached than there was',
  reasoning: 'more is reasoning than all output',
  far_input: 'the input is far from our own estimate',
  far_output: 'the output is far from our own estimate',
};

export function CallSummary({ call }: { readonly call: CallView }) {
  const account = useAccount();
  const hasTimes = describeCrash(call) === null;
  return (
    <div className="flex flex-col gap-4">
      {call.error !== null && (
        <p className="rounded-md border border-red/35 bg-red-soft px-3 py-2">
          Ended with status {call.status}: <code>{call.error}</code>
        </p>
      )}
      {call.usage_flags !== undefined && (
        <p className="rounded-md border border-amber/35 bg-amber-soft px-3 py-2">
          What the provider counted is odd: {call.usage_flags.map((flag) => FLAG_WORDS[flag]).join('; ')}. It counts as
          told.
        </p>
      )}
      <dl className="grid grid-cols-[max-content_1fr] gap-x-5 gap-y-1.5 sm:grid-cols-[max-content_1fr_max-content_1fr]">
        <Fact name="Cost">
          <Money nanoUsd={call.cost_nano_usd} exact />
        </Fact>
        <Fact name="Time">
          <ExactTime at={call.at} />
        </Fact>
        <Fact name="Duration">{hasTimes ? duration(call.duration_ms) : 'not known'}</Fact>
        <Fact name="First byte">
          {call.ttfb_ms !== null ? duration(call.ttfb_ms) : hasTimes ? 'none went out' : 'not known'}
        </Fact>
        <Fact name="Model">{call.model ?? 'none'}</Fact>
        <Fact name="Answered by">
          {call.served_model === null ? 'nobody' : `${call.served_model}, ${call.provider ?? ''}`}
        </Fact>
        <Fact name="Key">
          {account.may('keys.read') ? (
            <Link to="/app/keys/$key" names={{ key: call.key_id }} className="text-accent underline underline-offset-2">
              {call.key_name}
            </Link>
          ) : (
            call.key_name
          )}
        </Fact>
        <Fact name="Workspace">{call.workspace}</Fact>
        <Fact name="Protocol">{`${call.protocol === 'chat' ? 'Chat completions' : 'Messages'}${call.stream ? ', streamed' : ''}`}</Fact>
        <Fact name="Finish reason">{call.finish_reason ?? 'none'}</Fact>
        {call.end_user !== null && <Fact name="End user">{call.end_user}</Fact>}
        {call.session !== null && <Fact name="Session">{call.session}</Fact>}
        <Fact name="Tokens were">{SOURCE_WORDS[call.usage_source] ?? call.usage_source}</Fact>
      </dl>
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
