/** Serves the failed requests of an account, grouped by their reason. */
import type { UsageReader } from '../../store/ports/usage.ts';
import type { Handlers } from '../kernel/handlers.ts';
import { withIdTerm } from '../query/resolve-query.ts';
import { tenantOf } from '../usage/usage.ts';
import { orRefuse, PAGE_MS_MAX } from '../usage/usage-parts.ts';
import { parseRange } from '../usage/usage-range.ts';
import { chooseCalls, type LogParts } from './logs.ts';
import { refuseWords } from './search-content.ts';
import { explainCall, showCall } from './show-call.ts';

type ReasonParts = Omit<LogParts, 'usage' | 'content' | 'contentOf'> & {
  readonly usage: Pick<UsageReader, 'readReasons'>;
};

const DAY_MS = 86_400_000;

export function reasonHandlers(parts: ReasonParts) {
  return {
    'GET /accounts/{account}/reasons': async ({ tenancy, query }) => {
      const nowMs = parts.nowMs();
      const { from = new Date(nowMs - DAY_MS).toISOString(), to = new Date(nowMs + 1).toISOString() } = query;
      const [fromMs, toMs] = parseRange(from, to);
      const { choice, words, filter_labels } = await chooseCalls(parts, tenancy, query);
      refuseWords(words, 'reasons are not searched for text');
      const asked = { tenant: tenantOf(tenancy), ...withIdTerm(choice), fromMs, toMs, timeMsMax: PAGE_MS_MAX };
      const found = await orRefuse(parts.usage.readReasons(asked));
      const zone = parts.timeZoneOf(tenancy.account);
      return {
        groups: found.groups.flatMap(({ group, requests, newest, oldestMs }) => {
          const { reason, error, request_id, at } = showCall(tenancy, newest);
          const explanation = explainCall(tenancy, newest, zone);
          if (reason === undefined || explanation === null) return [];
          const { kind, subject, rule, target } = reason;
          return {
            group,
            kind,
            error,
            ...(subject !== undefined && { subject }),
            ...(rule !== undefined && { rule }),
            ...(target !== undefined && { provider: target.provider }),
            requests,
            first_at: new Date(oldestMs).toISOString(),
            last_at: at,
            newest_request_id: request_id,
            explanation,
          };
        }),
        requests: found.requests,
        other_groups: found.otherGroups,
        counted_from: found.countedFromMs === null ? null : new Date(found.countedFromMs).toISOString(),
        filter_labels,
      };
    },
  } satisfies Partial<Handlers>;
}
