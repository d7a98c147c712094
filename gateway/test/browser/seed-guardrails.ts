/** Keeps guardrails of each check. The hook is disabled: it would be called by every request of the tests. */
import { sampleGuardrail } from '../../src/store/contracts/guardrails-contract.ts';
import type { GuardrailRule } from '../../src/store/ports/books/guardrails.ts';
import type { Store } from '../../src/store/ports/store.ts';

const RULES: readonly (Partial<GuardrailRule> & Pick<GuardrailRule, 'id' | 'name'>)[] = [
  { id: 'grl_secrets', name: 'Mask secrets', check: 'secrets', items: [], side: 'request', action: 'mask' },
  {
    ...{
      id: 'grl_terms',
      name: 'Code names',
      check: 'terms',
      items: ['Project Falcon', 'Project Osprey', 'unreleased'],
    },
    ...{ workspace: 'research', side: 'both', action: 'block' },
  },
  {
    ...{ id: 'grl_personal', name: 'Mask personal data', check: 'personal_data', items: ['email', 'phone', 'iban'] },
    ...{ side: 'both', action: 'mask', failsOpen: true, enabled: false },
  },
  {
    ...{ id: 'grl_hook', name: 'Policy service', check: 'hook', items: [], side: 'request', enabled: false },
    ...{ receiver: 'https://policy.invalid', sealed: 'c2', timeoutMs: 800 },
  },
];

/** The server is stopped. */
export async function seedGuardrails({ guardrails }: Pick<Store, 'guardrails'>, nowMs: number): Promise<void> {
  for (const [nth, rule] of RULES.entries()) {
    await guardrails.createRule(sampleGuardrail(rule.id, { ...rule, createdAtMs: nowMs + nth }), []);
  }
}
