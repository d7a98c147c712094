/** Owns the one-time links by which somebody sets a new password: to one person, one at a time, for an hour. Sends no mail. */
import type { PeopleStore, ResetLinkRow } from '../store/people-port.ts';
import { drawToken, hashToken } from './one-time-token.ts';

export interface ResetLink {
  /** Whose password it sets. */
  readonly person: string;
  readonly token: string;
  readonly expiresAtMs: number;
}

export interface ResetLinks {
  /**
   * A new link for whoever signs in by the address; the one before it works no more. `endsSecondFactor`: using it turns the
   * second factor off. Null: nobody has this address.
   */
  makeByEmail(email: string, endsSecondFactor: boolean): Promise<ResetLink | null>;
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
    async makeByEmail(email, endsSecondFactor) {
      const [person] = await people.find('person', { where: [['email', 'is', email.toLowerCase()]] });
      if (person === undefined) return null;
      return make({ person: person.id, made_by: null, ends_second_factor: endsSecondFactor ? 1 : 0 });
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
