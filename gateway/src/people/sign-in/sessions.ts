/**
 * Finds, creates, lists and ends sessions. A session ends after a week without use, and after thirty days in any case;
 * ending one applies from the next request. The sign-in library creates most of them.
 */
import { createHash, randomBytes } from 'node:crypto';
import { generateId } from '../../identity/key-format.ts';
import type { Secret } from '../../lib/secret.ts';
import type { ChangeFollower } from '../../store/ports/change-feed.ts';
import type { PeopleStore, PersonRow, PersonSessionRow } from '../../store/ports/people.ts';
import { type Membership, membershipOf } from '../roles.ts';
import { type Arrival, readSessionToken, renderSessionCookie, sendCookies } from './auth-cookies.ts';

export interface SignedIn {
  readonly session: PersonSessionRow;
  readonly person: PersonRow;
  readonly memberships: readonly Membership[];
}

export interface Sessions {
  /**
   * The signed-in person of a request's cookie; null: none. Cached for at most a second, and never older than a change
   * that the feed told.
   */
  find(arrival: Arrival): Promise<SignedIn | null>;
  /** Creates a session for an authenticated person. Returns headers with its cookie, as the library would. */
  begin(person: string, arrival: Arrival): Promise<Headers>;
  /** A person's active sessions, last seen first. */
  list(person: string): Promise<readonly PersonSessionRow[]>;
  /** Ends a session of the person; false: they have no such session. */
  end(person: string, id: string): Promise<boolean>;
  /** Ends the session of a request, if it has one. */
  endHeld(arrival: Arrival): Promise<void>;
  /** Replaces the session's token; the old one stops working. */
  rotate(signedIn: SignedIn, arrival: Arrival, outgoing: Headers): Promise<void>;
  /** Clears the cache when a session, its user or their rights change. */
  readonly follower: ChangeFollower;
}

interface SessionParts {
  readonly people: PeopleStore;
  readonly secret: Secret;
  nowMs(): number;
  onFault(cause: unknown): void;
}

/** The maximum age of a session. */
export const SESSION_MS_MAX = 30 * 86_400_000;
const SILENCE_MS_MAX = 7 * 86_400_000;
const KNOWN_MS = 1_000;
const KNOWN_MAX = 10_000;
/** The resolution of the last-seen time. */
const SEEN_GRAIN_MS = 60_000;

/**
 * Deletes sessions that have ended by themselves: each has an address and a browser. Returns how many. Their browsers
 * rarely come back to be told so.
 */
export async function sweepSessions(people: PeopleStore, nowMs: number): Promise<number> {
  let deleted = 0;
  for (const ended of [
    ['expires_at_ms', '<=', nowMs],
    ['seen_at_ms', '<=', nowMs - SILENCE_MS_MAX],
  ] as const) {
    const rows = await people.find('person_session', { where: [ended] });
    if (rows.length === 0) continue;
    await people.save([{ of: 'person_session', remove: [ended], rows: null }]);
    deleted += rows.length;
  }
  return deleted;
}

export function createSessions({ people, secret, nowMs, onFault }: SessionParts): Sessions {
  /** Counts how often the cache was cleared: a lookup that started before is not cached after. */
  let era = 0;
  const known = new Map<string, { readonly signedIn: SignedIn | null; readonly untilMs: number }>();

  async function look(tokenHash: string): Promise<SignedIn | null> {
    const [session] = await people.find('person_session', { where: [['token', 'is', tokenHash]] });
    if (session === undefined || !isAlive(session)) return null;
    const [person] = await people.find('person', { where: [['id', 'is', session.person]] });
    if (person === undefined) return null;
    const rows = await people.find('membership', { where: [['person', 'is', person.id]], orderBy: ['account', 'asc'] });
    if (nowMs() - session.seen_at_ms >= SEEN_GRAIN_MS) markSeen(session);
    return { session, person, memberships: rows.map(membershipOf) };
  }

  function isAlive({ seen_at_ms, expires_at_ms }: PersonSessionRow): boolean {
    return nowMs() < Math.min(expires_at_ms, seen_at_ms + SILENCE_MS_MAX);
  }

  /** Runs in the background. */
  function markSeen({ id, person }: PersonSessionRow): void {
    const update = { seen_at_ms: nowMs() };
    people
      .save([
        { of: 'person_session', update, where: [['id', 'is', id]], rows: null },
        { of: 'person', update, where: [['id', 'is', person]], rows: null },
      ])
      .catch(onFault);
  }

  function forget(): void {
    era += 1;
    known.clear();
  }

  return {
    async find(arrival) {
      const token = readSessionToken(arrival);
      if (token === null) return null;
      const tokenHash = hashSessionToken(token);
      const before = known.get(tokenHash);
      if (before !== undefined && nowMs() < before.untilMs) return before.signedIn;
      const eraThen = era;
      const signedIn = await look(tokenHash);
      if (known.size >= KNOWN_MAX) known.clear();
      if (signedIn !== null && era === eraThen) known.set(tokenHash, { signedIn, untilMs: nowMs() + KNOWN_MS });
      return signedIn;
    },
    async begin(person, { headers, address }) {
      const token = randomBytes(32).toString('base64url');
      const atMs = nowMs();
      const insert = {
        id: generateId('session'),
        token: hashSessionToken(token),
        person,
        address,
        client: (headers.get('user-agent') ?? '').slice(0, 300),
        created_at_ms: atMs,
        seen_at_ms: atMs,
        expires_at_ms: atMs + SESSION_MS_MAX,
      };
      if (!(await people.save([{ of: 'person_session', insert }])))
        throw new Error(`there is no person ${person} any more`);
      return new Headers({ 'set-cookie': renderSessionCookie(token, secret, SESSION_MS_MAX / 1_000) });
    },
    async list(person) {
      const where = [['person', 'is', person]] as const;
      const rows = await people.find('person_session', { where, orderBy: ['seen_at_ms', 'desc'] });
      return rows.filter(isAlive);
    },
    end(person, id) {
      const remove = [
        ['id', 'is', id],
        ['person', 'is', person],
      ] as const;
      return people.save([{ of: 'person_session', remove, rows: 1 }]);
    },
    async endHeld(arrival) {
      const token = readSessionToken(arrival);
      if (token === null) return;
      await people.save([{ of: 'person_session', remove: [['token', 'is', hashSessionToken(token)]], rows: null }]);
    },
    async rotate({ session }, arrival, outgoing) {
      const token = randomBytes(32).toString('base64url');
      const update = { token: hashSessionToken(token) };
      const change = { of: 'person_session', update, where: [['id', 'is', session.id]], rows: 1 } as const;
      if (!(await people.save([change]))) return;
      const leftSeconds = Math.floor((session.expires_at_ms - nowMs()) / 1_000);
      sendCookies(new Headers({ 'set-cookie': renderSessionCookie(token, secret, leftSeconds) }), arrival, outgoing);
    },
    follower: {
      follow(changes) {
        if (changes.some(({ of }) => of === 'member' || of === 'session')) forget();
      },
      reload: async () => forget(),
    },
  };
}

/** The hash by which a session token is stored and found. A token has 190 random bits, so a plain hash is enough. */
export function hashSessionToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
