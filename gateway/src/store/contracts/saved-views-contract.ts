/** Tests any implementation of the store of saved views against its contract. */
import { describe, expect, test } from 'bun:test';
import type { SavedView } from '../ports/calls/saved-views.ts';
import { outcomeOf, type StoreRig, startRigs } from './store-rig.ts';

function sampleView(id: string, changes: Partial<SavedView> = {}): SavedView {
  const search = { q: 'status:5xx user:"Ada L"', range: '24h', sort: '-cost' };
  return { id, account: 'default', person: 'ada', name: id, isShared: false, search, createdAtMs: 1, ...changes };
}

/** Runs the suite; `openRig` opens new data. */
export function testSavedViews(name: string, openRig: () => Promise<StoreRig<'views'>>): void {
  describe(`saved views in ${name}`, () => {
    const open = startRigs(openRig);

    test('a person has their own views and the shared ones of the account, by name', async () => {
      const rig = await open();
      const all = [
        sampleView('b', { name: 'beta' }),
        sampleView('c', { name: 'Alpha', person: 'eve', isShared: true }),
        sampleView('d', { person: 'eve' }),
      ];
      for (const view of all) await rig.store.views.createView(view, []);
      expect(await outcomeOf(rig.store.views.createView(sampleView('b'), []))).not.toBe('kept');
      await rig.restart();
      const { views } = rig.store;
      expect(await views.readViews('default', 'ada')).toEqual([all[1], all[0]] as SavedView[]);
      expect((await views.readViews('default', 'eve')).map(({ id }) => id)).toEqual(['c', 'd']);
      expect(await views.readViews('other', 'ada')).toEqual([]);
    });

    test('a view is changed, but not its owner, account and time', async () => {
      const rig = await open();
      await rig.store.views.createView(sampleView('a'), []);
      const changed = sampleView('a', { name: 'new', isShared: true, search: {} });
      await rig.store.views.changeView({ ...changed, account: 'other', person: 'eve', createdAtMs: 9 }, []);
      await rig.restart();
      const { views } = rig.store;
      expect(await views.readViews('default', 'ada')).toEqual([changed]);
      expect(await outcomeOf(views.changeView(sampleView('gone'), []))).not.toBe('kept');
    });

    test('one view is pinned, as long as its person may see it', async () => {
      const rig = await open();
      const { views } = rig.store;
      await views.createView(sampleView('a'), []);
      await views.createView(sampleView('b', { person: 'eve', isShared: true }), []);
      await views.createView(sampleView('c', { person: 'eve' }), []);
      await views.savePinned('default', 'ada', 'a');
      await views.savePinned('default', 'ada', 'b');
      await rig.restart();
      const after = rig.store.views;
      expect(await after.readPinned('default', 'ada')).toBe('b');
      expect(await after.readPinned('default', 'eve')).toBeNull();
      await after.changeView(sampleView('b', { person: 'eve' }), []);
      expect(await after.readPinned('default', 'ada')).toBeNull();
      for (const [account, view] of [
        ['default', 'c'],
        ['other', 'a'],
        ['default', 'gone'],
      ] as const) {
        await after.savePinned(account, 'ada', view);
        expect(await after.readPinned(account, 'ada')).toBeNull();
      }
      await after.savePinned('default', 'ada', 'a');
      await after.savePinned('default', 'ada', null);
      expect(await after.readPinned('default', 'ada')).toBeNull();
    });

    test('a view is deleted with its pins', async () => {
      const { views } = (await open()).store;
      await views.createView(sampleView('a'), []);
      await views.savePinned('default', 'ada', 'a');
      await views.deleteView('a', []);
      expect(await views.readViews('default', 'ada')).toEqual([]);
      expect(await views.readPinned('default', 'ada')).toBeNull();
      expect(await outcomeOf(views.deleteView('a', []))).not.toBe('kept');
    });
  });
}
