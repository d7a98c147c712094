/** Renders the details of an audit entry: actor, action, target, origin and difference. */
import { renderValue } from '../../../../gateway/src/console-api/query/parse-query.ts';
import { ExactTime } from '../../ui/amounts.tsx';
import { Button } from '../../ui/button.tsx';
import { CopyIcon } from '../../ui/code-block.tsx';
import { Sheet } from '../../ui/dialog.tsx';
import {
  type AuditEntry,
  actionName,
  actorName,
  type Change,
  changesOf,
  fieldName,
  targetKind,
} from './audit-labels.ts';

interface AuditSheetProps {
  readonly entry: AuditEntry;
  /** Lists what meets a query. */
  readonly onFilter: (query: string) => void;
  readonly onClose: () => void;
}

export function AuditSheet({ entry, onFilter, onClose }: AuditSheetProps) {
  const changes = changesOf(entry);
  return (
    <Sheet
      title={actionName(entry.act)}
      lead={<ExactTime at={entry.at} />}
      onClose={onClose}
      footer={
        <>
          <Button onClick={() => onFilter(`actor:${renderValue(entry.actor.id)}`)}>
            Show all by {entry.actor.name}
          </Button>
          <Button onClick={() => onFilter(`target:${renderValue(entry.subject.id)}`)}>
            Show all for this {targetKind(entry.subject.kind, false)}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-5">
        <dl className="grid grid-cols-[max-content_1fr] gap-x-6 gap-y-1.5">
          <dt className="text-ink-3">Actor</dt>
          <dd className="min-w-0 break-words">{actorName(entry.actor)}</dd>
          <dt className="text-ink-3">Target</dt>
          <dd className="flex min-w-0 items-center gap-1">
            {targetKind(entry.subject.kind)} <code className="truncate">{entry.subject.id}</code>
            <CopyIcon text={entry.subject.id} what="ID" />
          </dd>
          <dt className="text-ink-3">Source</dt>
          <dd>{entry.address === null ? 'Local' : <code>{entry.address}</code>}</dd>
          <dt className="text-ink-3">Entry</dt>
          <dd className="figures">{entry.seq}</dd>
        </dl>
        {changes.length === 0 ? (
          <p className="text-ink-2">This action changed no fields.</p>
        ) : (
          <ul aria-label="Changes" className="flex flex-col rounded-lg border border-line">
            {changes.map((change) => (
              <ChangeRow key={change.member} change={change} />
            ))}
          </ul>
        )}
      </div>
    </Sheet>
  );
}

function ChangeRow({ change }: { readonly change: Change }) {
  return (
    <li className="flex min-w-0 flex-col gap-1 border-b border-line px-3 py-2 last:border-0">
      <span className="text-ink-2" title={change.member}>
        {fieldName(change.member)}
      </span>
      <div className="grid gap-1 font-mono text-sm sm:grid-cols-2 sm:gap-3">
        <Side sign="−" label="Before" text={change.before} tone="bg-red-soft" />
        <Side sign="+" label="After" text={change.after} tone="bg-green-soft" />
      </div>
    </li>
  );
}

function Side({
  sign,
  label,
  text,
  tone,
}: {
  readonly sign: string;
  readonly label: string;
  readonly text: string | null;
  readonly tone: string;
}) {
  if (text === null) return <span className="px-2 py-0.5 text-ink-3 max-sm:hidden">Not set</span>;
  return (
    <span className={`flex min-w-0 gap-2 rounded-sm px-2 py-0.5 ${tone}`}>
      <span aria-hidden="true">{sign}</span>
      <span className="sr-only">{label}: </span>
      <span className="min-w-0 break-words whitespace-pre-wrap">{text === '' ? '""' : text}</span>
    </span>
  );
}
