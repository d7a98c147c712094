/** Changes a file of another program so that it can be restored: first saves a copy of its content next to it. */
import { createHash, randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';

/** The backup next to a changed file, as JSON. */
interface Backup {
  /** Null: there was no file. */
  readonly before: string | null;
  readonly mode: number | null;
  /** Hash of the last text written; a different hash means that someone has changed the file since. */
  readonly writtenSha256: string;
  /** The key that was created for it; null: the key was given. */
  readonly keyId: string | null;
}

/** The path of a file's backup. */
export function backupPath(file: string): string {
  return `${file}.before-tollgate`;
}

/** The file's text; empty if it does not exist. */
export function readText(file: string): string {
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}

/** A file, and the text that it gets. */
export interface FileChange {
  readonly file: string;
  readonly after: string;
}

/** Changes all files, or none: one of two would leave a tool with a key that is revoked. Throws the system's error. */
export function changeFiles(changes: readonly FileChange[], keyId: string | null): void {
  const undo: Array<() => void> = [];
  try {
    for (const { file, after } of changes) {
      undo.push(remember(file), remember(backupPath(file)));
      changeFile(file, after, keyId);
    }
  } catch (fault) {
    for (const one of undo) one();
    throw fault;
  }
}

/** Returns a function that gives a file its present content again. */
function remember(path: string): () => void {
  if (!existsSync(path)) return () => rmSync(path, { force: true });
  const { mode } = statSync(path);
  const text = readFileSync(path, 'utf8');
  return () => writeWhole(path, text, mode & 0o777);
}

/** Writes the text atomically, readable to its owner only. The backup keeps the content before the first change. */
function changeFile(file: string, text: string, keyId: string | null): void {
  mkdirSync(dirname(file), { recursive: true });
  const earlier = readBackup(file);
  const existed = existsSync(file);
  const backup: Backup = {
    before: earlier === null ? (existed ? readFileSync(file, 'utf8') : null) : earlier.before,
    mode: earlier === null ? (existed ? statSync(file).mode & 0o777 : null) : earlier.mode,
    writtenSha256: sha256(text),
    keyId,
  };
  writeWhole(backupPath(file), `${JSON.stringify(backup, null, 2)}\n`, 0o600);
  writeWhole(file, text, 0o600);
}

/**
 * Restores the original content of all files, or of none, and returns the id of the key that was created for them.
 * Throws an Error if one was not changed here, or has been changed since.
 */
export function restoreFiles(files: readonly string[]): { readonly keyId: string | null } {
  const backups = files.map((file) => [file, checkBackup(file)] as const);
  for (const [file, { before, mode }] of backups) {
    if (before === null) rmSync(file);
    else writeWhole(file, before, mode ?? 0o600);
    rmSync(backupPath(file));
  }
  return { keyId: backups[0]?.[1].keyId ?? null };
}

function checkBackup(file: string): Backup {
  const backup = readBackup(file);
  if (backup === null) {
    throw new Error(`Nothing to undo: ${backupPath(file)} does not exist, so tollgate connect did not change ${file}.`);
  }
  if (sha256(readText(file)) !== backup.writtenSha256) {
    throw new Error(
      `${file} has changed since it was connected, and undoing would lose that change. Its earlier content is in ${backupPath(file)}, as "before".`,
    );
  }
  return backup;
}

function readBackup(file: string): Backup | null {
  return existsSync(backupPath(file)) ? (JSON.parse(readFileSync(backupPath(file), 'utf8')) as Backup) : null;
}

/** A symbolic link stays a link: its target file is written. */
function writeWhole(path: string, text: string, mode: number): void {
  const target = existsSync(path) ? realpathSync(path) : path;
  const draft = `${target}.${randomBytes(6).toString('hex')}`;
  writeFileSync(draft, text, { mode, flag: 'wx' });
  chmodSync(draft, mode);
  renameSync(draft, target);
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Removed lines begin with `-`, added lines with `+`; unchanged lines are shown only next to a change. */
export function renderDifference(before: string, after: string): string {
  const [old, fresh] = [toLines(before), toLines(after)];
  const marked = mark(old, fresh);
  const isNear = (at: number) =>
    [at - 1, at, at + 1].some((each) => marked[each] !== undefined && marked[each][0] !== ' ');
  return marked
    .filter((_, at) => isNear(at))
    .map((line) => `${line}\n`)
    .join('');
}

function toLines(text: string): string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/** Uses the longest common subsequence; these files have hundreds of lines. */
function mark(old: readonly string[], fresh: readonly string[]): string[] {
  const common: number[][] = Array.from({ length: old.length + 1 }, () => new Array<number>(fresh.length + 1).fill(0));
  const at = (left: number, right: number) => common[left]?.[right] ?? 0;
  for (let left = old.length - 1; left >= 0; left--) {
    for (let right = fresh.length - 1; right >= 0; right--) {
      const longest =
        old[left] === fresh[right] ? at(left + 1, right + 1) + 1 : Math.max(at(left + 1, right), at(left, right + 1));
      (common[left] as number[])[right] = longest;
    }
  }
  const lines: string[] = [];
  let [left, right] = [0, 0];
  while (left < old.length || right < fresh.length) {
    if (left < old.length && right < fresh.length && old[left] === fresh[right]) {
      lines.push(`  ${old[left]}`);
      left += 1;
      right += 1;
    } else if (right >= fresh.length || (left < old.length && at(left + 1, right) >= at(left, right + 1))) {
      lines.push(`- ${old[left]}`);
      left += 1;
    } else {
      lines.push(`+ ${fresh[right]}`);
      right += 1;
    }
  }
  return lines;
}
