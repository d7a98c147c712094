/** Tests what every change feed does: order, exactly one delivery, and reloads after a failure. */
import { beforeEach, describe, expect, test } from 'bun:test';
import type { Change, ChangeFeed, ChangeFollower } from '../ports/change-feed.ts';
import { OutcomeUnknown } from '../ports/store-errors.ts';

const provider = (name: string): Change => ({ of: 'provider', name });

/** Records what it is told. */
function record(told: string[], changes: Partial<ChangeFollower> = {}): ChangeFollower {
  return {
    follow: (commit, version) =>
      void told.push(`${version}: ${commit.map((change) => ('name' in change ? change.name : change.of))}`),
    reload: async () => void told.push('reload'),
    ...changes,
  };
}

export function testChangeFeed(open: () => ChangeFeed): void {
  let feed: ChangeFeed;
  let told: string[];
  beforeEach(() => {
    [feed, told] = [open(), []];
    feed.subscribe(record(told));
  });
  const publish = (...changes: readonly Change[]) => feed.publish(Promise.resolve(changes));

  describe('a commit is delivered', () => {
    test('once to each follower, with all of its changes and consecutive versions', async () => {
      const others: string[] = [];
      feed.subscribe(record(others));
      await publish(provider('one'), provider('two'));
      await publish({ of: 'config' });
      expect(told).toEqual(['1: one,two', '2: config']);
      expect(others).toEqual(told);
    });

    test('before its publisher continues, also to a follower that reads the store', async () => {
      feed.subscribe(record(told, { follow: () => Bun.sleep(5).then(() => void told.push('read')) }));
      await publish(provider('one'));
      expect(told).toEqual(['1: one', 'read']);
    });

    test('within one turn of the event loop to all followers', async () => {
      feed.subscribe(record(told, { follow: () => void Promise.resolve().then(() => told.push('next turn')) }));
      feed.subscribe(record(told));
      await publish(provider('one'));
      expect(told).toEqual(['1: one', '1: one', 'next turn']);
    });

    test('in the order of the calls, whichever is durable first', async () => {
      const slow = feed.publish(Bun.sleep(10).then(() => [provider('slow')]));
      await publish(provider('fast'));
      await slow;
      expect(told).toEqual(['1: slow', '2: fast']);
    });

    test('after all followers have applied the one before', async () => {
      feed.subscribe(
        record(told, { follow: (_, version) => Bun.sleep(5).then(() => void told.push(`${version} read`)) }),
      );
      await Promise.all([publish(provider('one')), publish(provider('two'))]);
      expect(told).toEqual(['1: one', '1 read', '2: two', '2 read']);
    });

    test('only to those that subscribed before it', async () => {
      await publish(provider('one'));
      const later: string[] = [];
      feed.subscribe(record(later));
      await publish(provider('two'));
      expect(later).toEqual(['2: two']);
    });
  });

  describe('nothing is delivered, and no version used', () => {
    test('where the commit fails; its publisher gets the failure', async () => {
      await expect(feed.publish(Promise.reject(new Error('disk full')))).rejects.toThrow('disk full');
      await publish(provider('next'));
      expect(told).toEqual(['1: next']);
    });

    test('where nothing changed', async () => {
      await publish();
      await publish(provider('next'));
      expect(told).toEqual(['1: next']);
    });
  });

  describe('a commit that may have become durable all the same', () => {
    const publishUnknown = () => feed.publish(Promise.reject(new OutcomeUnknown('the writer died')));

    test('makes all followers reload, after earlier commits; its publisher gets the failure', async () => {
      const earlier = feed.publish(Bun.sleep(5).then(() => [provider('one')]));
      await expect(publishUnknown()).rejects.toThrow('the writer died');
      await earlier;
      await publish(provider('two'));
      expect(told).toEqual(['1: one', 'reload', '3: two']);
    });

    test('is made up for in place of the next one by a follower that cannot reload', async () => {
      const seen: string[] = [];
      let failures = 1;
      const reload = async () => {
        if (failures-- > 0) throw new Error('not read');
        seen.push('reload');
      };
      feed.subscribe(record(seen, { reload }));
      await expect(publishUnknown()).rejects.toThrow('the writer died');
      await publish(provider('one'));
      await publish(provider('two'));
      expect(seen).toEqual(['reload', '3: two']);
      expect(told).toEqual(['reload', '2: one', '3: two']);
    });
  });

  describe('a follower that fails', () => {
    const failing = () => {
      const seen: string[] = [];
      let failures = 1;
      feed.subscribe(
        record(seen, {
          follow: (_, version) => {
            if (failures-- > 0) throw new Error('not read');
            seen.push(String(version));
          },
        }),
      );
      return seen;
    };

    test('fails the publisher; the other followers still follow', async () => {
      failing();
      feed.subscribe(record(told));
      await expect(publish(provider('one'))).rejects.toThrow('not read');
      expect(told).toEqual(['1: one', '1: one']);
    });

    test('reloads in place of the next commit, and then follows again', async () => {
      const seen = failing();
      await publish(provider('one')).catch(() => undefined);
      await publish(provider('two'));
      await publish(provider('three'));
      expect(seen).toEqual(['reload', '3']);
    });
  });
}
