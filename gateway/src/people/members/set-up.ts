/**
 * Creates the first user with a one-time setup link, which works only until someone has used it. Also creates the rows
 * of new users, and the tokens of one-time links.
 */

import { createHash, randomBytes } from 'node:crypto';
import { ConsoleFailure } from '../../errors/console-failure.ts';
import { generateId } from '../../identity/key-format.ts';
import type { PeopleChange, PeopleStore } from '../../store/ports/people.ts';
import { emailColumns, requireEmail } from '../email-address.ts';
import { OPERATOR_ACCOUNT } from '../roles.ts';
import { hashPassword } from '../sign-in/passwords.ts';

export interface SetUpLink {
  readonly token: string;
  readonly expiresAtMs: number;
}

export interface SetUp {
  /** Whether a person exists; then set-up is done. */
  isClaimed(): Promise<boolean>;
  /** A new link, which replaces earlier ones. Null: set-up is done. */
  makeLink(): Promise<SetUpLink | null>;
  /** When the link expires; null: it is invalid. */
  readLink(token: string): Promise<number | null>;
  /**
   * Creates the owner of the operator's account and marks the link as used, or changes nothing. Returns the person's
   * id. @throws ConsoleFailure `gone`
   */
  claim(given: FirstPerson): Promise<string>;
}

export interface FirstPerson {
  readonly token: string;
  readonly name: string;
  readonly email: string;
  readonly password: string;
}

const LINK_MS = 15 * 60_000;

/** `nowMs`: unix ms. */
export function createSetUp(people: PeopleStore, nowMs: () => number): SetUp {
  async function isClaimed(): Promise<boolean> {
    return (await people.find('person', { where: [], limit: 1 })).length > 0;
  }

  async function readLink(token: string): Promise<number | null> {
    if (await isClaimed()) return null;
    const [link] = await people.find('setup_link', {
      where: [
        ['token_hash', 'is', hashToken(token)],
        ['used_at_ms', 'is', null],
        ['expires_at_ms', '>', nowMs()],
      ],
    });
    return link?.expires_at_ms ?? null;
  }

  return {
    isClaimed,
    readLink,
    async makeLink() {
      if (await isClaimed()) return null;
      const { token, hash } = createToken();
      const expiresAtMs = nowMs() + LINK_MS;
      await people.save([
        { of: 'setup_link', remove: [], rows: null },
        { of: 'setup_link', insert: { token_hash: hash, expires_at_ms: expiresAtMs, used_at_ms: null } },
      ]);
      return { token, expiresAtMs };
    },
    async claim({ token, name, email, password }) {
      if ((await readLink(token)) === null) throw linkIsGone();
      const atMs = nowMs();
      const person = await makePerson({ name, email: requireEmail(email), password, account: null }, atMs);
      const membership = {
        person: person.id,
        account: OPERATOR_ACCOUNT,
        role: 'owner',
        workspaces: null,
        joined_at_ms: atMs,
      };
      // Only one link exists and it works once, so only one of two concurrent claims succeeds.
      const where = [
        ['token_hash', 'is', hashToken(token)],
        ['used_at_ms', 'is', null],
      ] as const;
      const isKept = await people.save([
        { of: 'setup_link', update: { used_at_ms: atMs }, where, rows: 1 },
        ...person.changes,
        { of: 'membership', insert: membership },
      ]);
      if (!isKept) throw linkIsGone();
      return person.id;
    },
  };
}

function linkIsGone(): ConsoleFailure {
  return new ConsoleFailure(
    'gone',
    'this setup link was used, has expired or was replaced. If the console is not set up yet, print a new one: tollgate setup-link',
    { page: '/app/sign-in' },
  );
}

interface NewPerson {
  readonly id: string;
  readonly changes: readonly PeopleChange[];
}

interface NewPersonGiven {
  readonly name: string;
  /** As returned by `readEmail`. */
  readonly email: string;
  readonly password: string;
  /** Null: the address is verified. Otherwise the account that invited it. */
  readonly account: string | null;
}

export async function makePerson({ name, email, password, account }: NewPersonGiven, atMs: number): Promise<NewPerson> {
  const id = generateId('person');
  const times = { created_at_ms: atMs, updated_at_ms: atMs };
  const password_hash = await hashPassword(password);
  return {
    id,
    changes: [
      {
        of: 'person',
        insert: {
          id,
          name,
          ...emailColumns(email, account),
          second_factor: 0,
          seen_at_ms: atMs,
          time_zone: null,
          ...times,
        },
      },
      {
        of: 'sign_in_method',
        insert: {
          id: generateId('method'),
          person: id,
          provider: 'credential',
          subject: id,
          scope: null,
          password_hash,
          ...times,
        },
      },
    ],
  };
}

interface OneTimeToken {
  /** 43 characters that need no escaping in a URL. */
  readonly token: string;
  /** 64 hex characters. */
  readonly hash: string;
}

export function createToken(): OneTimeToken {
  const token = randomBytes(32).toString('base64url');
  return { token, hash: hashToken(token) };
}

/** A fast hash is enough for 256 random bits. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
