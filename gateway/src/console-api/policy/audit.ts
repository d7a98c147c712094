/** Serves the audit trail as a list and a CSV export. Read-only. */
import { csvLine } from '../../lib/tables/csv-line.ts';
import type { AuditEntry, AuditFilter } from '../../store/ports/audit.ts';
import type { Tenancy } from '../kernel/actor.ts';
import type { Handlers } from '../kernel/handlers.ts';
import { readCursor, readRange, renderCursor } from '../kernel/time-range.ts';
import { checkValues, readAuditQuery } from '../query/read-audit-query.ts';
import { showTime } from './limits.ts';
import type { PolicyParts } from './policy-parts.ts';

const PAGE_ENTRIES = 100;
const FILE_PAGE_ENTRIES = 1_000;
const COLUMNS = [
  'seq',
  'at',
  'actor_kind',
  'actor',
  'actor_name',
  'address',
  'act',
  'subject_kind',
  'subject',
  'before',
  'after',
];

export function auditHandlers({ audit, deps }: Pick<PolicyParts, 'audit' | 'deps'>) {
  return {
    'GET /accounts/{account}/audit': async ({ tenancy, query }) => {
      const terms = readAuditQuery(query.q, deps.billing.timeZoneOf(tenancy.account));
      const entries = await audit.read({
        ...everythingOf(tenancy),
        beforeSeq: readCursor(query.before),
        actor: query.actor ?? null,
        act: query.act ?? null,
        subject: query.subject ?? null,
        terms,
        limit: PAGE_ENTRIES,
      });
      if (entries.length === 0 && query.before === undefined) {
        await checkValues(terms, (field) => audit.readValues(field, tenancy));
      }
      const last = entries.length < PAGE_ENTRIES ? null : (entries.at(-1)?.seq ?? null);
      return { entries: entries.map(showEntry), next: renderCursor(last) };
    },
    'GET /accounts/{account}/audit.csv': async ({ tenancy, query }) => {
      const [fromMs, toMs] = readRange(query);
      const terms = readAuditQuery(query.q, deps.billing.timeZoneOf(tenancy.account));
      const filter = { ...everythingOf(tenancy), fromMs, toMs, terms, limit: FILE_PAGE_ENTRIES };
      return { name: `tollgate-audit-${tenancy.account}.csv`, lines: renderEntries(audit, filter) };
    },
  } satisfies Partial<Handlers>;
}

function everythingOf({ account, workspaces }: Tenancy): Omit<AuditFilter, 'limit'> {
  return { account, workspaces, beforeSeq: null, actor: null, act: null, subject: null, fromMs: null, toMs: null };
}

function showEntry({ seq, atMs, by, act, subject, before, after }: AuditEntry) {
  const { actor, address } = by;
  return { seq, at: showTime(atMs), actor, act, subject, before: copyOf(before), after: copyOf(after), address };
}

function copyOf(members: AuditEntry['before']): Record<string, unknown> | null {
  return members === null ? null : { ...members };
}

async function* renderEntries(audit: PolicyParts['audit'], filter: AuditFilter): AsyncGenerator<string> {
  yield csvLine(COLUMNS);
  let beforeSeq = filter.beforeSeq;
  for (;;) {
    const entries = await audit.read({ ...filter, beforeSeq });
    yield entries.map(renderEntry).join('');
    if (entries.length < filter.limit) return;
    beforeSeq = entries.at(-1)?.seq ?? 0;
  }
}

function renderEntry({ seq, atMs, by: { actor, address }, act, subject, before, after }: AuditEntry): string {
  return csvLine([
    seq,
    showTime(atMs),
    actor.kind,
    actor.id,
    actor.name,
    address,
    act,
    subject.kind,
    subject.id,
    before === null ? null : JSON.stringify(before),
    after === null ? null : JSON.stringify(after),
  ]);
}
