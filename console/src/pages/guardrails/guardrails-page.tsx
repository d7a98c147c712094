/** Renders the guardrails page: the rules, oldest first, and a panel that tries them. */
import { Plus } from 'lucide-react';
import { useReply } from '../../lib/queries.ts';
import { useAccount } from '../../lib/session.ts';
import { useFilters } from '../../route/route.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Empty, Page, Section, SkeletonRows } from '../../ui/page.tsx';
import { GuardrailDialog } from './guardrail-dialog.tsx';
import { GuardrailTable } from './guardrail-table.tsx';
import { TrialPanel } from './trial-panel.tsx';

export default function GuardrailsPage() {
  const account = useAccount();
  const [filters, setFilters] = useFilters();
  const path = { account: account.account };
  const { data, error, refetch } = useReply('GET /accounts/{account}/guardrails', { path });
  const mayWrite = account.may('guardrails.write');
  const edited = data?.rules.find(({ id }) => id === filters.rule);
  const close = () => setFilters({ rule: undefined, add: undefined });
  const create = mayWrite && (
    <Button kind="primary" icon={<Plus size={15} />} onClick={() => setFilters({ add: '1' })}>
      Create guardrail
    </Button>
  );
  const isEmpty = data !== undefined && data.rules.length === 0;
  return (
    <Page
      title="Guardrails"
      lead="Rules that check the text of requests and answers before it is passed on."
      action={!isEmpty && create}
    >
      {error !== null && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <SkeletonRows />}
      {isEmpty && (
        <Empty title="No guardrails yet" action={create}>
          Mask API keys and personal data before they reach a provider, block words of your own, or let your own service
          decide.
        </Empty>
      )}
      {data !== undefined && filters.rule !== undefined && edited === undefined && (
        <p className="text-ink-2">The guardrail was deleted, or it applies to more than your workspaces.</p>
      )}
      {data !== undefined && !isEmpty && (
        <>
          <GuardrailTable
            account={account.account}
            rules={data.rules}
            detectors={data.detectors}
            mayWrite={mayWrite}
            openId={filters.rule ?? null}
            onOpen={({ id }) => setFilters({ rule: id })}
          />
          {mayWrite && (
            <Section title="Try">
              <TrialPanel account={account.account} rules={data.rules} />
            </Section>
          )}
        </>
      )}
      {mayWrite && data !== undefined && edited !== undefined && (
        <GuardrailDialog key={edited.id} account={account} rule={edited} detectors={data.detectors} onClose={close} />
      )}
      {mayWrite && data !== undefined && filters.add === '1' && (
        <GuardrailDialog account={account} rule={null} detectors={data.detectors} onClose={close} />
      )}
    </Page>
  );
}
