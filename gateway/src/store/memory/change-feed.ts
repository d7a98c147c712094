/** Implements the change feed for one process, and publishes on it what the stores of policy, people, models and guardrails keep. */
import type { GuardrailStore } from '../ports/books/guardrails.ts';
import type { Change, ChangeFeed, ChangeFollower } from '../ports/change-feed.ts';
import type { PeopleChange, PeopleStore } from '../ports/people.ts';
import type { PolicyStore } from '../ports/policy.ts';
import type { ProviderChange, ProviderStore } from '../ports/providers.ts';
import { OutcomeUnknown } from '../ports/store-errors.ts';

export function createChangeFeed(): ChangeFeed {
  const followers: { readonly of: ChangeFollower; seen: number }[] = [];
  let version = 0;
  let last: Promise<unknown> = Promise.resolve();

  /** `changes` null: they are not known. */
  async function deliver(changes: readonly Change[] | null): Promise<void> {
    if (changes?.length === 0) return;
    version += 1;
    const outcomes = await Promise.allSettled(
      followers.map(async (each) => {
        const isNext = each.seen === version - 1;
        await (isNext && changes !== null ? each.of.follow(changes, version) : each.of.reload());
        each.seen = version;
      }),
    );
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  }

  /** The commit may be durable, and a key that it revoked must not be accepted until the next one. */
  async function recover(fault: unknown): Promise<never> {
    // Who cannot reload now does so in place of the next commit.
    if (fault instanceof OutcomeUnknown) await deliver(null).catch(() => undefined);
    throw fault;
  }

  return {
    subscribe: (follower) => void followers.push({ of: follower, seen: version }),
    publish(commit) {
      const kept = commit.then(
        (changes) => () => deliver(changes),
        (fault: unknown) => () => recover(fault),
      );
      const delivered = Promise.all([kept, last]).then(([apply]) => apply());
      // The publisher gets the failure; the next commit is delivered all the same.
      last = delivered.catch(() => undefined);
      return delivered;
    },
  };
}

interface PublishingStores {
  readonly policies: PolicyStore;
  readonly people: PeopleStore;
  readonly providers: ProviderStore;
  readonly guardrails: GuardrailStore;
}

/**
 * The same stores, whose writes resolve once they are durable and in force. Each store runs its writes in the order of
 * the calls, so the feed has the order of the commits.
 */
export function publishChanges<Stores extends PublishingStores>(stores: Stores, feed: ChangeFeed): Stores {
  const { policies, people, providers, guardrails } = stores;
  return {
    ...stores,
    policies: publishPolicies(policies, feed),
    people: publishPeople(people, feed),
    providers: publishProviders(providers, feed),
    guardrails: publishGuardrails(guardrails, feed),
  };
}

export function publishPolicies(policies: PolicyStore, feed: ChangeFeed): PolicyStore {
  return {
    ...policies,
    save: (changes, entries) => feed.publish(policies.save(changes, entries).then(() => changes)),
  };
}

function publishProviders(providers: ProviderStore, feed: ChangeFeed): ProviderStore {
  return {
    ...providers,
    save: (changes, entries) => feed.publish(providers.save(changes, entries).then(() => changes.flatMap(entered))),
  };
}

function publishGuardrails(guardrails: GuardrailStore, feed: ChangeFeed): GuardrailStore {
  const publish = (id: string, kept: Promise<void>) => feed.publish(kept.then(() => [{ of: 'guardrail', id }]));
  return {
    ...guardrails,
    createRule: (rule, entries) => publish(rule.id, guardrails.createRule(rule, entries)),
    changeRule: (rule, entries) => publish(rule.id, guardrails.changeRule(rule, entries)),
    deleteRule: (id, entries) => publish(id, guardrails.deleteRule(id, entries)),
  };
}

/** The changes that the caches of models follow; the test of a provider changes nothing there. */
function entered(change: ProviderChange): Change[] {
  switch (change.of) {
    case 'provider':
      return [{ of: 'provider', name: 'removed' in change ? change.removed : change.provider.name }];
    case 'credential':
      return [{ of: 'provider', name: ('removed' in change ? change.removed : change.credential).provider }];
    case 'route':
      return [{ of: 'route', model: 'removed' in change ? change.removed : change.route.model }];
    case 'out_of_rotation': {
      const { kind, owner, name } = 'out' in change ? change.out : change.back;
      return [{ of: 'rotation', kind, owner, name }];
    }
    case 'price':
      return [{ of: 'price', model: change.price.model }];
    case 'test':
      return [];
  }
}

function publishPeople(people: PeopleStore, feed: ChangeFeed): PeopleStore {
  return {
    ...people,
    async save(changes) {
      const published = changes.flatMap(changeOf);
      const kept = people.save(changes);
      await feed.publish(kept.then((isKept) => (isKept ? published : [])));
      return kept;
    },
  };
}

function changeOf(change: PeopleChange): Change[] {
  if (change.of === 'person' || change.of === 'person_session') return [{ of: 'session' }];
  if (change.of !== 'membership') return [];
  if ('insert' in change) return [{ of: 'member', person: change.insert.person }];
  const where = 'remove' in change ? change.remove : change.where;
  const person = where.find(([column, operator]) => column === 'person' && operator === 'is')?.[2];
  if (typeof person !== 'string') throw new Error('a change of memberships does not name its member');
  return [{ of: 'member', person }];
}
