/** Owns the one-time links by which somebody sets a new password: to one person, one at a time, for an hour. Sends no mail. */
import type { PeopleStore, PersonRow, ResetLinkRow } from '../store/people-port.ts';
import { readEmail } from './email-address.ts';
import { drawToken, hashToken } from './one-time-token.ts';

export interface ResetLink {
  /** Whose password it sets. */
  readonly person: string;
  readonly token: string;
  readonly expiresAtMs: number;
}

/** `unknown`: no user has the address, in the account. `several`: users have it, in these accounts. */
export type ResetMade =
  | { readonly kind: 'made'; readonly link: ResetLink }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'several'; readonly accounts: readonly string[] };

export interface ResetLinks {
  /**
   * A new link for the user of an address, where several have it for the one of an account; the link before it works no more.
   * `endsSecondFactor`: using it turns the second factor off.
   */
  makeByEmail(email: string, account: string | null, endsSecondFactor: boolean): Promise<ResetMade>;
  /** The same for a person, in the name of another one; the second factor stays. */
  makeFor(person: string, madeBy: string): Promise<ResetLink>;
  /** Null: the link does not work. */
  find(token: string): Promise<ResetLinkRow | null>;
}

const LINK_MS = 3_600_000;

/** `nowMs`: unix ms. */
export function createResetLinks(people: PeopleStore, nowMs: () => number): ResetLinks {
  async function make(row: Pick<ResetLinkRow, 'person' | 'made_by' | 'ends_second_factor'>): Promise<ResetLink> {
    const { token, hash } = drawToken();
    const expiresAtMs = nowMs() + LINK_MS;
    await people.keep([
      { of: 'reset_link', remove: [['person', 'is', row.person]], rows: null },
      { of: 'reset_link', insert: { ...row, token_hash: hash, expires_at_ms: expiresAtMs } },
    ]);
    return { person: row.person, token, expiresAtMs };
  }

  return {
    async makeByEmail(given, account, endsSecondFactor) {
      const email = readEmail(given);
      const users = email === null ? [] : await people.find('person', { where: [['email', 'is', email]] });
      const where = [['person', 'in', users.map(({ id }) => id)]] as const;
      const memberships = await people.find('membership', { where });
      const accountsOf = (user: PersonRow) => {
        const joined = memberships.flatMap((one) => (one.person === user.id ? one.account : []));
        // Whoever was removed may have been the only one of the address.
        return joined.length === 0 && user.account !== null ? [user.account] : joined;
      };
      const meant = users.filter((user) => account === null || accountsOf(user).includes(account));
      const [person, other] = meant;
      if (person === undefined) return { kind: 'unknown' };
      if (other !== undefined) return { kind: 'several', accounts: [...new Set(meant.flatMap(accountsOf))].sort() };
      const row = { person: person.id, made_by: null, ends_second_factor: endsSecondFactor ? 1 : 0 } as const;
      return { kind: 'made', link: await make(row) };
    },
    makeFor: (person, madeBy) => make({ person, made_by: madeBy, ends_second_factor: 0 }),
    async find(token) {
      const [row] = await people.find('reset_link', {
        where: [
          ['token_hash', 'is', hashToken(token)],
          ['expires_at_ms', '>', nowMs()],
        ],
      });
      return row ?? null;
    },
  };
}
