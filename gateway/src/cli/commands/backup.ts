/**
 * Defines the command `tollgate backup`: copies the data folder, optionally with content, and verifies the copied
 * ledger before the copy gets its final name.
 */
import { existsSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { CONTENT_SCHEMA } from '../../store/sqlite/content/content-database.ts';
import { contentPath } from '../../store/sqlite/content/content-store.ts';
import { backupDatabase } from '../../store/sqlite/database/backup-database.ts';
import { databasePath } from '../../store/sqlite/database/connection.ts';
import { type CliEnvironment, CliFailure, renderJsonLine } from '../environment.ts';

import { prove, renderProblem } from './verify.ts';

interface Copy {
  readonly file: string;
  readonly bytes: number;
}

/** Adds `backup` to the program. */
export function register(program: Command, environment: CliEnvironment): void {
  program
    .command('backup')
    .description('copy the database to a new file, also while a server runs, and verify the copy')
    .argument('<file>', 'the new file; it must not exist')
    .option('--with-content', 'also copy stored prompts and responses, to <file>.content')
    .option('--json', 'print JSON')
    .action((file: string, flags: { withContent?: true; json?: true }) => {
      const { dataDir } = environment;
      const made = makeBackup(dataDir, resolve(file), flags.withContent === true);
      environment.stdout(flags.json ? renderJsonLine(made) : renderBackup(dataDir, made, flags.withContent === true));
    });
}

/** Copies everything requested, or nothing. */
function makeBackup(dataDir: string, file: string, withContent: boolean) {
  let found = { entries: 0, calls: 0 };
  try {
    const bytes = backupDatabase(databasePath(dataDir), file, (copy) => {
      const { problem, entries, calls } = prove(copy);
      if (problem !== null) throw new Error(`${renderProblem(problem)} No backup was created; see tollgate verify`);
      found = { entries, calls };
    });
    return { file, bytes, ...found, content: withContent ? copyContent(contentPath(dataDir), file) : null };
  } catch (fault) {
    throw new CliFailure(1, fault instanceof Error ? fault.message : String(fault));
  }
}

/** Null: no content is stored. @throws the copy's error, after deleting the copy of the database. */
function copyContent(from: string, database: string): Copy | null {
  if (!existsSync(from)) return null;
  const file = `${database}.content`;
  try {
    return { file, bytes: backupDatabase(from, file, () => undefined, CONTENT_SCHEMA) };
  } catch (fault) {
    rmSync(database);
    throw fault;
  }
}

function renderBackup(
  dataDir: string,
  { file, bytes, entries, calls, content }: ReturnType<typeof makeBackup>,
  withContent: boolean,
): string {
  const said = content === null ? renderNoContent(dataDir, withContent) : renderContent(content);
  return `Copied ${bytes} bytes to ${file}; its ledger is valid: ${entries} entries, ${calls} settled requests.\n${said}Keep ${dataDir}/master.key as well, in another place: without it no API key of the copy works${content === null ? '' : ', and stored prompts and responses cannot be read'}.\n`;
}

function renderContent({ file, bytes }: Copy): string {
  return `Copied ${bytes} bytes of prompts and responses, encrypted, to ${file}.\n`;
}

function renderNoContent(dataDir: string, withContent: boolean): string {
  if (!existsSync(contentPath(dataDir))) return withContent ? 'No prompts or responses are stored.\n' : '';
  return `Not copied: prompts and responses (${contentPath(dataDir)}). To copy them too: --with-content\n`;
}
