/** Tests any implementation of the store of alerts against its contract. */
import { describe, expect, test } from 'bun:test';
import { type AlertDelivery, type AlertRule, DELIVERY_PAUSE_MS_MAX } from '../ports/books/alerts.ts';
import { outcomeOf, type StoreRig, startRigs } from './store-rig.ts';

export function sampleRule(id: string, changes: Partial<AlertRule> = {}): AlertRule {
  const event = { event: 'budget', threshold: 80n, channel: 'webhook' } as const;
  return {
    id,
    account: 'default',
    name: id,
    ...event,
    receiver: 'https://a.test',
    sealed: 'c2',
    renotifyMs: null,
    quietFrom: null,
    quietTo: null,
    mutedUntilMs: null,
    createdAtMs: 1,
    evaluatedAtMs: 1,
    ...changes,
  };
}

function sampleDelivery(id: string, changes: Partial<AlertDelivery> = {}): AlertDelivery {
  const fresh = { status: 'pending', attempts: 0, nextAtMs: 10, error: null } as const;
  const remedy = { label: 'Edit limits', page: '/app/limits' };
  const found = { rule: 'one', account: 'default', event: id, text: 'spent', remedy };
  return { id, ...found, createdAtMs: 10, ...fresh, ...changes };
}

function once(...deliveries: readonly AlertDelivery[]) {
  return deliveries.map((delivery) => ({ delivery, notAfterMs: null }));
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
      await alerts.enqueue(once(sampleDelivery('a')));
      await alerts.deleteRule('one', []);
      expect(await alerts.readRules()).toEqual([sampleRule('two')]);
      expect(await alerts.readDeliveries('one', 10)).toEqual([]);
      expect(await outcomeOf(alerts.deleteRule('one', []))).not.toBe('kept');
    });

    test('a delivery is added once, and not for a rule that is gone', async () => {
      const rig = await open();
      await rig.store.alerts.createRule(sampleRule('one'), []);
      await rig.store.alerts.enqueue(once(sampleDelivery('a'), sampleDelivery('b', { rule: 'gone' })));
      await rig.store.alerts.saveAttempt(sampleDelivery('a', { status: 'delivered', attempts: 1 }));
      await rig.restart();
      const { alerts } = rig.store;
      await alerts.enqueue(once(sampleDelivery('a', { text: 'again' }), sampleDelivery('c', { event: 'a' })));
      expect(await alerts.readDeliveries('one', 10)).toEqual([
        sampleDelivery('a', { status: 'delivered', attempts: 1 }),
      ]);
      expect(await alerts.readDeliveries('gone', 10)).toEqual([]);
    });

    test('due deliveries are the pending ones whose time has come, or was set before the clock went back, the earliest first', async () => {
      const { alerts } = (await open()).store;
      await alerts.createRule(sampleRule('one'), []);
      await alerts.createRule(sampleRule('two'), []);
      await alerts.enqueue(
        once(
          sampleDelivery('a', { nextAtMs: 20 }),
          sampleDelivery('b'),
          sampleDelivery('c', { nextAtMs: 21 }),
          sampleDelivery('d', { rule: 'two' }),
          sampleDelivery('e', { status: 'failed' }),
        ),
      );
      const due = async (limit: number) => (await alerts.readDue('one', 20, limit)).map(({ id }) => id);
      expect(await due(10)).toEqual(['b', 'a']);
      expect(await due(1)).toEqual(['b']);
      await alerts.saveAttempt(sampleDelivery('a', { nextAtMs: 20 + DELIVERY_PAUSE_MS_MAX }));
      expect(await due(10)).toEqual(['b']);
      await alerts.saveAttempt(sampleDelivery('a', { nextAtMs: 21 + DELIVERY_PAUSE_MS_MAX }));
      expect(await due(10)).toEqual(['b', 'a']);
      await alerts.sweepDeliveries(11);
      expect((await alerts.readDeliveries('one', 10)).map(({ id }) => id)).toEqual(['a', 'b', 'c']);
    });

    test('a rule is changed, but not its account and times', async () => {
      const rig = await open();
      await rig.store.alerts.createRule(sampleRule('one'), []);
      const changed = sampleRule('one', {
        name: 'other',
        threshold: 90n,
        channel: 'inbox',
        receiver: '',
        sealed: null,
        renotifyMs: 60_000,
        quietFrom: 1_320,
        quietTo: 0,
        mutedUntilMs: 9,
      });
      await rig.store.alerts.changeRule({ ...changed, account: 'other', createdAtMs: 5, evaluatedAtMs: 5 }, []);
      await rig.store.alerts.saveEvaluated(7);
      await rig.store.alerts.saveEvaluated(6);
      await rig.restart();
      expect(await rig.store.alerts.readRules()).toEqual([{ ...changed, evaluatedAtMs: 7 }]);
      expect(await outcomeOf(rig.store.alerts.changeRule(sampleRule('gone'), []))).not.toBe('kept');
    });

    test('a rule that only tells the inbox owes its receiver nothing, also of what was found before', async () => {
      const { alerts } = (await open()).store;
      await alerts.createRule(sampleRule('one'), []);
      await alerts.enqueue(once(sampleDelivery('a'), sampleDelivery('b', { status: 'failed' })));
      await alerts.changeRule(sampleRule('one', { channel: 'inbox', receiver: '', sealed: null }), []);
      // As an evaluation and an attempt that began before the change.
      await alerts.enqueue(once(sampleDelivery('c')));
      await alerts.saveAttempt(sampleDelivery('a', { attempts: 1, error: 'gone' }));
      await alerts.changeRule(sampleRule('one'), []);
      expect(await alerts.readDue('one', 99, 10)).toEqual([]);
      const statuses = (await alerts.readDeliveries('one', 10)).map(({ id, status }) => [id, status]);
      expect(statuses).toEqual([
        ['a', 'delivered'],
        ['b', 'failed'],
        ['c', 'delivered'],
      ]);
    });

    test('an event that lasts has another delivery only after its time', async () => {
      const { alerts } = (await open()).store;
      await alerts.createRule(sampleRule('one'), []);
      const add = (id: string, createdAtMs: number, notAfterMs: number) =>
        alerts.enqueue([{ delivery: sampleDelivery(id, { event: 'low', createdAtMs }), notAfterMs }]);
      await add('a', 10, 0);
      await add('b', 19, 9);
      await add('c', 20, 10);
      await add('c', 99, 98);
      expect((await alerts.readDeliveries('one', 10)).map(({ id }) => id)).toEqual(['c', 'a']);
    });

    test('an inbox has the deliveries of one account, and counts what a person has not seen', async () => {
      const rig = await open();
      const { alerts } = rig.store;
      await alerts.createRule(sampleRule('one'), []);
      await alerts.createRule(sampleRule('two'), []);
      const at = (id: string, createdAtMs: number, rule: string) => sampleDelivery(id, { createdAtMs, rule });
      await alerts.enqueue(once(at('a', 10, 'one'), at('b', 20, 'two'), at('c', 30, 'one')));
      const ids = async (account: string, limit: number) =>
        (await alerts.readInbox(account, limit)).map(({ id }) => id);
      expect(await ids('default', 2)).toEqual(['c', 'b']);
      expect(await ids('other', 2)).toEqual([]);
      expect(await alerts.countUnseen('default', 'ada')).toBe(3);
      await alerts.saveSeen('default', 'ada', 20);
      await alerts.saveSeen('default', 'ada', 10);
      await rig.restart();
      expect(await rig.store.alerts.readSeen('default', 'ada')).toBe(20);
      expect(await rig.store.alerts.readSeen('other', 'ada')).toBe(0);
      expect(await rig.store.alerts.countUnseen('default', 'ada')).toBe(1);
      expect(await rig.store.alerts.countUnseen('default', 'eve')).toBe(3);
      expect(await rig.store.alerts.countUnseen('other', 'eve')).toBe(0);
    });
  });
}
