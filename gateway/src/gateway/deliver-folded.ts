/** Owns handing an upstream's stream to a client that asked for one piece. */
import type { Dispatch, Dispatched } from './dispatch.ts';
import { decideUsage } from './settle.ts';
import { settledReply } from './settled-reply.ts';

/**
 * The client's response. A stream that was cut for want of money is answered as far as it came, as if by a limit of tokens: it
 * is paid for. Throws CallFailure where what came is no answer; then nothing was settled yet.
 */
export async function deliverFolded(
  job: Dispatch,
  { folding, head, cut }: Extract<Dispatched, { kind: 'folded' }>,
): Promise<Response> {
  const { call, gate, protocol } = job;
  const { observer } = folding;
  const facts = observer.facts();
  const outcome = { status: 200, failure: cut ? 'quota_exceeded' : null } as const;
  const counted = cut ? decideUsage(call, { ...outcome, facts }, gate).usage : null;
  const { json, finish_reason, dropped } = folding.finish(counted);
  if (!observer.rewrites) gate.disorders.received[protocol.name] += observer.disorders;
  call.cut = cut;
  if (dropped.length > 0) call.dropped = [...call.dropped, ...dropped];
  const headers = observer.rewrites ? [] : head.headers;
  return settledReply(job, { head: { headers }, body: json, ...outcome, facts: { ...facts, finish_reason } });
}
