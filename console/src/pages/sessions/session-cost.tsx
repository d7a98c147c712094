/** Renders the cost of a session; without a price on any of its requests, it is unpriced. */
import type { Reply } from '../../../../gateway/src/console-api/contract/contract.ts';
import { Money } from '../../ui/amounts.tsx';

export type SessionView = Reply<'GET /accounts/{account}/sessions'>['sessions'][number];

export function SessionCost({
  session: { cost_nano_usd: cost, requests, unpriced },
}: {
  readonly session: Pick<SessionView, 'cost_nano_usd' | 'requests' | 'unpriced'>;
}) {
  return <Money nanoUsd={requests === unpriced ? null : cost} />;
}
