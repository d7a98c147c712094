/**
 * Migrates to version 21: addresses are verified or not, and an unverified one is valid in one account. Shipped
 * migrations never change.
 */
import type { Migration } from './migration.ts';

/**
 * The account whose invitation created the user: the first one they joined, else the one of the last invitation they
 * accepted.
 */
const HOME = `coalesce(
  (SELECT membership.account FROM membership WHERE membership.person = person.id ORDER BY joined_at_ms, 1 LIMIT 1),
  (SELECT invitation.account FROM invitation WHERE invitation.email = person.email AND accepted_at_ms IS NOT NULL
    ORDER BY accepted_at_ms DESC LIMIT 1))`;

/** Memberships that an unverified address does not allow. */
const BEYOND = `membership JOIN person ON person.id = membership.person
  WHERE email_verified = 0 AND membership.account IS NOT person.account`;

export const MIGRATION_21: Migration = {
  version: 21,
  statements: [
    // The table is not recreated, since others refer to it: the unique column gets another name and meaning.
    'ALTER TABLE person RENAME COLUMN email TO unique_email',
    "ALTER TABLE person ADD COLUMN email TEXT NOT NULL DEFAULT ''",
    // Verified: the first person, who used the set-up link, and everyone that another service has vouched for.
    `UPDATE person SET email = unique_email, email_verified =
      (id = (SELECT first.id FROM person AS first ORDER BY first.created_at_ms, first.rowid LIMIT 1))
      OR EXISTS (SELECT 1 FROM sign_in_method WHERE sign_in_method.person = person.id AND provider <> 'credential')`,
    "UPDATE person SET unique_email = email || ' ' || id WHERE email_verified = 0",
    // The account of an unverified user. Neither addresses nor account names contain a space.
    `ALTER TABLE person ADD COLUMN account TEXT REFERENCES account (id) CHECK (unique_email = CASE email_verified
      WHEN 1 THEN email ELSE email || ' ' || coalesce(account, id) END)`,
    `UPDATE person SET account = ${HOME}, unique_email = email || ' ' || coalesce(${HOME}, id) WHERE email_verified = 0`,
    'CREATE INDEX person_email ON person (email)',
    // Restored when the address is verified.
    `CREATE TABLE suspended_membership (
      person TEXT NOT NULL REFERENCES person (id),
      account TEXT NOT NULL REFERENCES account (id),
      role TEXT NOT NULL,
      workspaces TEXT,
      joined_at_ms INTEGER NOT NULL,
      PRIMARY KEY (person, account)
    ) STRICT, WITHOUT ROWID`,
    `INSERT INTO suspended_membership
      SELECT membership.person, membership.account, role, workspaces, joined_at_ms FROM ${BEYOND}`,
    `INSERT INTO audit_entry
        (at_ms, account, workspace, actor_kind, actor_id, actor_name, address, act, subject_kind, subject_id, before, after)
      SELECT $now, account, NULL, 'command_line', 'command_line', 'command line', NULL, 'member.suspend', 'person', person,
        json_object('role', role), NULL FROM suspended_membership`,
    `DELETE FROM membership WHERE EXISTS (SELECT 1 FROM suspended_membership AS kept
      WHERE kept.person = membership.person AND kept.account = membership.account)`,
    `CREATE TRIGGER membership_of_verified BEFORE INSERT ON membership
      WHEN EXISTS (SELECT 1 FROM person WHERE id = NEW.person AND email_verified = 0 AND account IS NOT NEW.account)
      BEGIN SELECT RAISE(ABORT, 'an unverified user joins no second account'); END`,
  ],
};
