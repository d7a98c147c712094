/** Tests any implementation of the store of guardrail rules against its contract. */
import { describe, expect, test } from 'bun:test';
import type { NewAuditEntry } from '../ports/audit.ts';
import type { GuardrailRule } from '../ports/books/guardrails.ts';
import { outcomeOf, type StoreRig, startRigs } from './store-rig.ts';

export function sampleGuardrail(id: string, changes: Partial<GuardrailRule> = {}): GuardrailRule {
  return {
    id,
    account: 'default',
    workspace: null,
    name: id,
    check: 'terms',
    items: ['Project Falcon', 'naïve "quoted"'],
    side: 'both',
    action: 'block',
    failsOpen: false,
    receiver: '',
    sealed: null,
    timeoutMs: 0,
    enabled: true,
    createdAtMs: 1,
    ...changes,
  };
}

const HOOK: Partial<GuardrailRule> = {
  ...{ check: 'hook', items: [], side: 'request', action: 'mask', failsOpen: true, enabled: false },
  ...{ receiver: 'https://a.test', sealed: 'c2', timeoutMs: 2_000 },
};

const ENTRY: NewAuditEntry = {
  ...{ atMs: 5, account: 'default', workspace: null, act: 'guardrails.create', before: null, after: { name: 'one' } },
  by: { actor: { kind: 'command_line', id: 'cli', name: 'Command line' }, address: null },
  subject: { kind: 'guardrail', id: 'one' },
};
const ENTRIES = { account: 'default', workspaces: null, beforeSeq: null, actor: null, limit: 100 };

/** Runs the suite; `openRig` opens new data. */
export function testGuardrails(name: string, openRig: () => Promise<StoreRig<'guardrails' | 'audit'>>): void {
  describe(`guardrails in ${name}`, () => {
    const open = startRigs(openRig);

    test('rules are kept, oldest first', async () => {
      const rig = await open();
      const rules = [
        sampleGuardrail('two', { ...HOOK, workspace: 'default' }),
        sampleGuardrail('one', { createdAtMs: 2 }),
      ];
      for (const rule of rules.toReversed()) await rig.store.guardrails.createRule(rule, []);
      expect(await outcomeOf(rig.store.guardrails.createRule(sampleGuardrail('one'), []))).toBe('conflict');
      await rig.restart();
      expect(await rig.store.guardrails.readRules()).toEqual(rules);
    });

    test('a rule is changed, but not its account and time', async () => {
      const rig = await open();
      await rig.store.guardrails.createRule(sampleGuardrail('one'), []);
      const changed = sampleGuardrail('one', { ...HOOK, workspace: 'default', name: 'other' });
      await rig.store.guardrails.changeRule({ ...changed, account: 'other', createdAtMs: 5 }, []);
      await rig.restart();
      expect(await rig.store.guardrails.readRules()).toEqual([changed]);
      expect(await outcomeOf(rig.store.guardrails.changeRule(sampleGuardrail('gone'), []))).toBe('conflict');
    });

    test('a rule is deleted', async () => {
      const { guardrails } = (await open()).store;
      for (const id of ['one', 'two']) await guardrails.createRule(sampleGuardrail(id), []);
      await guardrails.deleteRule('one', []);
      expect((await guardrails.readRules()).map(({ id }) => id)).toEqual(['two']);
      expect(await outcomeOf(guardrails.deleteRule('one', []))).toBe('conflict');
    });

    test('an entry is kept with its change, and neither where one is refused', async () => {
      const { guardrails, audit } = (await open()).store;
      const acts = async () => {
        const filter = { ...ENTRIES, subject: 'one', act: null, fromMs: null, toMs: null };
        return (await audit.read(filter)).map(({ act }) => act);
      };
      await guardrails.createRule(sampleGuardrail('one'), [ENTRY]);
      await outcomeOf(guardrails.createRule(sampleGuardrail('one'), [ENTRY]));
      await outcomeOf(guardrails.changeRule(sampleGuardrail('gone'), [ENTRY]));
      await outcomeOf(guardrails.deleteRule('gone', [ENTRY]));
      expect(await acts()).toEqual(['guardrails.create']);
      await guardrails.deleteRule('one', [{ ...ENTRY, act: 'guardrails.delete' }]);
      expect(await acts()).toEqual(['guardrails.delete', 'guardrails.create']);
    });
  });
}
