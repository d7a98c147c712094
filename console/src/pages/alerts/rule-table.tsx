/** Renders the table of alert rules, and the actions on each. */
import { useState } from 'react';
import { useAction } from '../../lib/queries.ts';
import { When } from '../../ui/amounts.tsx';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { MenuItem, MenuLine } from '../../ui/menu.tsx';
import { RowMenu } from '../../ui/table/row-menu.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { toast } from '../../ui/toasts.tsx';
import { CHANNELS, type Delivery, isMuted, type Rule, ruleText } from './alerts.ts';

const STATUSES: Readonly<Record<Delivery['status'], readonly [word: string, tone: Tone]>> = {
  delivered: ['Delivered', 'good'],
  pending: ['Pending', 'neutral'],
  failed: ['Failed', 'bad'],
};
const HOUR_MS = 3_600_000;
const MUTES = [
  ['Mute for 1 hour', HOUR_MS],
  ['Mute for 1 day', 24 * HOUR_MS],
  ['Mute for 1 week', 168 * HOUR_MS],
] as const;
const LIST = ['GET /accounts/{account}/alerts'] as const;

interface RuleTableProps {
  readonly account: string;
  readonly rules: readonly Rule[];
  readonly mayWrite: boolean;
  readonly openId: string | null;
  readonly onOpen: (rule: Rule) => void;
  readonly onEdit: (rule: Rule) => void;
}

export function RuleTable({ account, rules, mayWrite, openId, onOpen, onEdit }: RuleTableProps) {
  const [deleted, setDeleted] = useState<Rule | null>(null);
  const columns: readonly Column<Rule>[] = [
    {
      id: 'name',
      head: 'Alert',
      sortBy: ({ name }) => name,
      cell: (rule) => (
        <span className="flex min-w-0 items-center gap-1.5">
          <span className="truncate font-medium" title={rule.name}>
            {rule.name}
          </span>
          {isMuted(rule, Date.now()) && <Badge>Muted</Badge>}
        </span>
      ),
    },
    { id: 'event', head: 'Event', wideOnly: true, sortBy: ruleText, cell: ruleText },
    { id: 'receiver', head: 'Sent to', wideOnly: true, cell: receiverText },
    { id: 'last', head: 'Last alert', cell: ({ last }) => <LastDelivery last={last} /> },
    ...(mayWrite
      ? [
          {
            id: 'actions',
            head: '',
            width: 48,
            pinned: true,
            cell: (rule: Rule) => (
              <RuleMenu account={account} rule={rule} onEdit={() => onEdit(rule)} onDelete={() => setDeleted(rule)} />
            ),
          },
        ]
      : []),
  ];
  return (
    <>
      <Table
        label="Alert rules"
        columns={columns}
        rows={rules}
        rowKey={({ id }) => id}
        openKey={openId}
        onOpen={onOpen}
      />
      {deleted !== null && <DeleteRule account={account} rule={deleted} onClose={() => setDeleted(null)} />}
    </>
  );
}

export function receiverText({ channel, receiver }: Rule): string {
  const word = CHANNELS.find(([one]) => one === channel)?.[1] ?? channel;
  return receiver === '' ? word : `${word}, ${receiver.replace(/^https?:\/\//, '')}`;
}

export function DeliveryStatus({ delivery: { status } }: { readonly delivery: Pick<Delivery, 'status'> }) {
  const [word, tone] = STATUSES[status];
  return <Badge tone={tone}>{word}</Badge>;
}

function LastDelivery({ last }: Pick<Rule, 'last'>) {
  if (last === null) return <span className="text-ink-3">None yet</span>;
  return (
    <span className="flex items-center gap-1.5" title={last.error ?? undefined}>
      <DeliveryStatus delivery={last} />
      <span className="text-ink-2 max-md:hidden">
        <When at={last.at} />
      </span>
    </span>
  );
}

interface RuleMenuProps {
  readonly account: string;
  readonly rule: Rule;
  readonly onEdit: () => void;
  readonly onDelete: () => void;
}

function RuleMenu({ account, rule, onEdit, onDelete }: RuleMenuProps) {
  const test = useAction('POST /accounts/{account}/alerts/{alert}/test', [
    ...LIST,
    'GET /accounts/{account}/alerts/{alert}/deliveries',
  ]);
  const change = useAction('PATCH /accounts/{account}/alerts/{alert}', LIST);
  const path = { account, alert: rule.id };
  const onError = ({ message }: Error) => toast({ tone: 'bad', text: message });
  const mute = (muted_until: string | null) => change.mutate({ path, body: { muted_until } }, { onError });
  return (
    <RowMenu name={rule.name}>
      <MenuItem onSelect={onEdit}>Edit…</MenuItem>
      <MenuItem
        onSelect={() =>
          test.mutate({ path, body: {} }, { onSuccess: () => toast({ text: 'Test message created.' }), onError })
        }
      >
        Send test
      </MenuItem>
      <MenuLine />
      {isMuted(rule, Date.now()) ? (
        <MenuItem onSelect={() => mute(null)}>Unmute</MenuItem>
      ) : (
        MUTES.map(([word, ms]) => (
          <MenuItem key={word} onSelect={() => mute(new Date(Date.now() + ms).toISOString())}>
            {word}
          </MenuItem>
        ))
      )}
      <MenuLine />
      <MenuItem danger onSelect={onDelete}>
        Delete…
      </MenuItem>
    </RowMenu>
  );
}

interface DeleteRuleProps {
  readonly account: string;
  readonly rule: Rule;
  readonly onClose: () => void;
}

function DeleteRule({ account, rule, onClose }: DeleteRuleProps) {
  const remove = useAction('DELETE /accounts/{account}/alerts/{alert}', LIST);
  const onSuccess = () => {
    toast({ text: `Deleted ${rule.name}.` });
    onClose();
  };
  return (
    <Confirm
      title={`Delete ${rule.name}?`}
      submitLabel="Delete alert"
      busy={remove.isPending}
      error={remove.error}
      onAction={() => remove.mutate({ path: { account, alert: rule.id } }, { onSuccess })}
      onClose={onClose}
    >
      <p>Nothing more is sent, and what the alert found disappears from the list of alerts.</p>
    </Confirm>
  );
}
