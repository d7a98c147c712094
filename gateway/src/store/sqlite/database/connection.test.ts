/** Tests that an open database stays locked against other programs. */
import { expect, test } from 'bun:test';
import { temporaryFolders } from '../../testing/temporary-folder.ts';
import { databasePath, openReadConnection, openWriteConnection } from './connection.ts';

const newFolder = temporaryFolders();

/** What another process is answered that asks for the database for itself, as it must to remove the log. */
function takeElsewhere(path: string): string {
  const program = `const { Database } = require('bun:sqlite');
    try {
      const database = new Database(process.argv[1]);
      database.run('PRAGMA locking_mode = EXCLUSIVE');
      database.run('BEGIN EXCLUSIVE');
      console.log('taken');
    } catch (fault) {
      console.log(fault.code);
    }`;
  return Bun.spawnSync([process.execPath, '-e', program, path]).stdout.toString().trim();
}

test('no other program removes the log, also after the writing connection was opened again', () => {
  const path = databasePath(newFolder());
  const first = openWriteConnection(path);
  first.run('CREATE TABLE one (value)');
  const reading = openReadConnection(path);
  reading.query('SELECT * FROM one').all();
  first.close();
  const again = openWriteConnection(path);
  again.run('INSERT INTO one VALUES (1)');
  expect(takeElsewhere(path)).toBe('SQLITE_BUSY');
  again.close();
  reading.close();
  expect(takeElsewhere(path)).toBe('taken');
});
