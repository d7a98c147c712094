/** Owns what a subject's caps have left, in words. Decides nothing, takes nothing. */
import { formatNanoUsd } from '../billing/money.ts';
import { steadyNowMs } from '../lib/steady-clock.ts';
import type { BindingCaps, LimitStore } from '../store/limits-port.ts';

/** A line for each cap. */
export async function explainCaps(
  store: Pick<LimitStore, 'readUse' | 'readBudget'>,
  binding: BindingCaps,
): Promise<readonly string[]> {
  const { subject, caps, windowEndMs } = binding;
  const { requestsPerMinute, tokensPerMinute, concurrency, budget } = caps;
  const whose = `${subject.kind.replace('_', ' ')} ${subject.id}`;
  const use = await store.readUse(binding, steadyNowMs());
  const lines: string[] = [];
  if (use.requests !== null)
    lines.push(`${whose}: ${use.requests.used} of ${requestsPerMinute} requests per minute are used`);
  if (use.tokens !== null) lines.push(`${whose}: ${use.tokens.used} of ${tokensPerMinute} tokens per minute are used`);
  if (use.running !== null) lines.push(`${whose}: ${use.running} of ${concurrency} calls at once are running`);
  const state = budget === null ? null : await store.readBudget(binding);
  if (budget !== null && state !== null) {
    const until = windowEndMs === null ? 'for all time' : `until ${new Date(windowEndMs).toISOString()}`;
    const spent = `${formatNanoUsd(state.settled)} USD are spent and ${formatNanoUsd(state.held)} held`;
    lines.push(`${whose}: ${spent} of ${formatNanoUsd(budget.amount)} ${until}`);
  }
  return lines;
}
