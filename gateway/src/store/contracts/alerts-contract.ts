/** Tests any implementation of the store of alerts against its contract. */
import { describe, expect, test } from 'bun:test';
import type { AlertDelivery, AlertRule } from '../ports/books/alerts.ts';
import { outcomeOf, type StoreRig, startRigs } from './store-rig.ts';

export function sampleRule(id: string, changes: Partial<AlertRule> = {}): AlertRule {
  const event = { event: 'budget', threshold: 80n, channel: 'webhook' } as const;
  return {
    id,
    account: 'default',
    name: id,
    ...event,
    origin: 'https://a.test',
    sealed: 'c2',
    createdAtMs: 1,
    ...changes,
  };
}

function sampleDelivery(id: string, changes: Partial<AlertDelivery> = {}): AlertDelivery {
  const fresh = { status: 'pending', attempts: 0, nextAtMs: 10, error: null } as const;
  return { id, rule: 'one', text: 'spent', createdAtMs: 10, ...fresh, ...changes };
}

/** Runs the suite; `openRig` opens new data. */
export function testAlerts(name: string, openRig: () => Promise<StoreRig<'alerts'>>): void {
  describe(`alerts in ${name}`, () => {
    const open = startRigs(openRig);

    test('rules are kept, oldest first, and deleted with their deliveries', async () => {
      const rig = await open();
      const rules = [sampleRule('two'), sampleRule('one', { createdAtMs: 2, threshold: 9_000_000_000_000_000_001n })];
      for (const rule of rules) await rig.store.alerts.createRule(rule, []);
      expect(await outcomeOf(rig.store.alerts.createRule(sampleRule('one'), []))).not.toBe('kept');
      await rig.restart();
      const { alerts } = rig.store;
      expect(await alerts.readRules()).toEqual(rules);
      await alerts.enqueue([sampleDelivery('a')]);
      await alerts.deleteRule('one', []);
      expect(await alerts.readRules()).toEqual([sampleRule('two')]);
      expect(await alerts.readDeliveries('one', 10)).toEqual([]);
      expect(await outcomeOf(alerts.deleteRule('one', []))).not.toBe('kept');
    });

    test('a delivery is added once, and not for a rule that is gone', async () => {
      const rig = await open();
      await rig.store.alerts.createRule(sampleRule('one'), []);
      await rig.store.alerts.enqueue([sampleDelivery('a'), sampleDelivery('b', { rule: 'gone' })]);
      await rig.store.alerts.saveAttempt(sampleDelivery('a', { status: 'delivered', attempts: 1 }));
      await rig.restart();
      const { alerts } = rig.store;
      await alerts.enqueue([sampleDelivery('a', { text: 'again' })]);
      expect(await alerts.readDeliveries('one', 10)).toEqual([
        sampleDelivery('a', { status: 'delivered', attempts: 1 }),
      ]);
      expect(await alerts.readDeliveries('gone', 10)).toEqual([]);
    });

    test('due deliveries are the pending ones whose time has come, the earliest first', async () => {
      const { alerts } = (await open()).store;
      await alerts.createRule(sampleRule('one'), []);
      await alerts.createRule(sampleRule('two'), []);
      await alerts.enqueue([
        sampleDelivery('a', { nextAtMs: 20 }),
        sampleDelivery('b'),
        sampleDelivery('c', { nextAtMs: 21 }),
        sampleDelivery('d', { rule: 'two' }),
        sampleDelivery('e', { status: 'failed' }),
      ]);
      const due = async (limit: number) => (await alerts.readDue('one', 20, limit)).map(({ id }) => id);
      expect(await due(10)).toEqual(['b', 'a']);
      expect(await due(1)).toEqual(['b']);
      await alerts.sweepDeliveries(11);
      expect((await alerts.readDeliveries('one', 10)).map(({ id }) => id)).toEqual(['a', 'b', 'c']);
    });
  });
}
