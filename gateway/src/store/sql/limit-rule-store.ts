/** Owns how limit rules lie in their table, and the statements that read and change them. */
import { type CompiledQuery, type Kysely, sql } from 'kysely';
import {
  type BudgetWindow,
  type Caps,
  inLayer,
  type LimitLayer,
  layerOf,
  type Subject,
  type SubjectKind,
} from '../limits-port.ts';
import type { LimitRule } from '../policy-port.ts';
import type { Tables } from './tables.ts';

export interface LimitRuleRow {
  readonly kind: SubjectKind;
  readonly id: string;
  readonly layer: LimitLayer;
  readonly requests_per_minute: number | null;
  readonly tokens_per_minute: number | null;
  readonly concurrency: number | null;
  /** A decimal string: beyond 2^53 a number would lose its last digits without a word. */
  readonly budget_nano_usd: string | null;
  readonly budget_window: BudgetWindow | null;
}

/** All rules, ordered by subject, the operator's after the account's own. */
export async function readLimitRules(queries: Kysely<Tables>): Promise<readonly LimitRule[]> {
  const rows = await rulesOf(queries)
    .selectFrom('limit_rule')
    .selectAll()
    .select(sql<string | null>`cast(budget_nano_usd as text)`.as('budget_nano_usd'))
    .orderBy('kind')
    .orderBy('id')
    .orderBy('layer')
    .execute();
  return rows.map(ruleOfRow);
}

/** Makes or replaces a subject's rule, or takes it away (null); changes one row. */
export function compileRuleChange(queries: Kysely<Tables>, subject: Subject, caps: Caps | null): CompiledQuery {
  const { kind, id } = subject;
  const layer = layerOf(subject);
  if (caps === null) {
    return rulesOf(queries)
      .deleteFrom('limit_rule')
      .where('kind', '=', kind)
      .where('id', '=', id)
      .where('layer', '=', layer)
      .compile();
  }
  const members = {
    requests_per_minute: caps.requestsPerMinute,
    tokens_per_minute: caps.tokensPerMinute,
    concurrency: caps.concurrency,
    budget_nano_usd: caps.budget === null ? null : String(caps.budget.amount),
    budget_window: caps.budget?.window ?? null,
  };
  return rulesOf(queries)
    .insertInto('limit_rule')
    .values({ kind, id, layer, ...members })
    .onConflict((conflict) => conflict.columns(['kind', 'id', 'layer']).doUpdateSet(members))
    .compile();
}

function rulesOf(queries: Kysely<Tables>) {
  return queries.withTables<{ limit_rule: LimitRuleRow }>();
}

function ruleOfRow(row: LimitRuleRow): LimitRule {
  const { budget_nano_usd: amount, budget_window: window } = row;
  return {
    subject: inLayer(row, row.layer),
    caps: {
      requestsPerMinute: row.requests_per_minute,
      tokensPerMinute: row.tokens_per_minute,
      concurrency: row.concurrency,
      budget: amount === null || window === null ? null : { window, amount: BigInt(amount) },
    },
  };
}
