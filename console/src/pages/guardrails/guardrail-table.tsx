/** Renders the table of guardrails, with a switch and the actions on each. */
import { useState } from 'react';
import { useAction } from '../../lib/queries.ts';
import { Confirm } from '../../ui/dialog.tsx';
import { MenuItem, MenuLine } from '../../ui/menu.tsx';
import { RowMenu } from '../../ui/table/row-menu.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { toast } from '../../ui/toasts.tsx';
import { actionText, checkText, type Detector, type Rule, sideText } from './guardrails.ts';

const LIST = ['GET /accounts/{account}/guardrails'] as const;

interface GuardrailTableProps {
  readonly account: string;
  readonly rules: readonly Rule[];
  readonly detectors: readonly Detector[];
  readonly mayWrite: boolean;
  readonly openId: string | null;
  readonly onOpen: (rule: Rule) => void;
}

export function GuardrailTable({ account, rules, detectors, mayWrite, openId, onOpen }: GuardrailTableProps) {
  const [deleted, setDeleted] = useState<Rule | null>(null);
  const columns: readonly Column<Rule>[] = [
    {
      id: 'name',
      head: 'Guardrail',
      cell: ({ name }) => (
        <span className="truncate font-medium" title={name}>
          {name}
        </span>
      ),
    },
    { id: 'check', head: 'Check', wideOnly: true, cell: (rule) => checkText(rule, detectors) },
    { id: 'side', head: 'Side', wideOnly: true, width: 170, cell: ({ side }) => sideText(side) },
    { id: 'action', head: 'Action', width: 110, cell: actionText },
    {
      id: 'workspace',
      head: 'Applies to',
      wideOnly: true,
      cell: ({ workspace }) => workspace ?? <span className="text-ink-2">All workspaces</span>,
    },
    {
      id: 'fails',
      head: 'If it can’t run',
      wideOnly: true,
      width: 120,
      cell: ({ fails_open }) => (fails_open ? 'Let pass' : 'Block'),
    },
    {
      id: 'enabled',
      head: 'On',
      width: 56,
      cell: (rule) => <EnabledSwitch account={account} rule={rule} mayWrite={mayWrite} />,
    },
    ...(mayWrite
      ? [
          {
            id: 'actions',
            head: '',
            width: 48,
            pinned: true,
            cell: (rule: Rule) => (
              <RuleMenu rule={rule} onEdit={() => onOpen(rule)} onDelete={() => setDeleted(rule)} />
            ),
          },
        ]
      : []),
  ];
  return (
    <>
      <Table
        label="Guardrails"
        columns={columns}
        rows={rules}
        rowKey={({ id }) => id}
        openKey={openId}
        {...(mayWrite ? { onOpen } : {})}
      />
      {deleted !== null && <DeleteRule account={account} rule={deleted} onClose={() => setDeleted(null)} />}
    </>
  );
}

interface EnabledSwitchProps {
  readonly account: string;
  readonly rule: Rule;
  readonly mayWrite: boolean;
}

function EnabledSwitch({ account, rule, mayWrite }: EnabledSwitchProps) {
  const change = useAction('PATCH /accounts/{account}/guardrails/{guardrail}', LIST);
  const { id, name, enabled } = rule;
  const set = (next: boolean) =>
    change.mutate(
      { path: { account, guardrail: id }, body: { enabled: next } },
      {
        onSuccess: () => toast({ text: `${next ? 'Enabled' : 'Disabled'} ${name}.` }),
        onError: ({ message }) => toast({ tone: 'bad', text: message }),
      },
    );
  return (
    <input
      type="checkbox"
      aria-label={`${name} enabled`}
      className="block size-4 accent-accent"
      checked={change.isPending ? change.variables.body.enabled === true : enabled}
      disabled={!mayWrite || change.isPending}
      onChange={({ target }) => set(target.checked)}
    />
  );
}

interface RuleMenuProps {
  readonly rule: Rule;
  readonly onEdit: () => void;
  readonly onDelete: () => void;
}

function RuleMenu({ rule, onEdit, onDelete }: RuleMenuProps) {
  return (
    <RowMenu name={rule.name}>
      <MenuItem onSelect={onEdit}>Edit…</MenuItem>
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
  const remove = useAction('DELETE /accounts/{account}/guardrails/{guardrail}', LIST);
  const onSuccess = () => {
    toast({ text: `Deleted ${rule.name}.` });
    onClose();
  };
  return (
    <Confirm
      title={`Delete ${rule.name}?`}
      submitLabel="Delete guardrail"
      busy={remove.isPending}
      error={remove.error}
      onAction={() => remove.mutate({ path: { account, guardrail: rule.id } }, { onSuccess })}
      onClose={onClose}
    >
      <p>
        Later requests {rule.workspace === null ? 'of all workspaces' : `of ${rule.workspace}`} are no longer checked by
        it. To pause it, disable it instead.
      </p>
    </Confirm>
  );
}
