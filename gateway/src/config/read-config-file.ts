/** Owns which file is the configuration, and reading its text within a size. Knows nothing of its content. */
import { isUtf8 } from 'node:buffer';
import { closeSync, openSync, readSync } from 'node:fs';
import { resolve } from 'node:path';
import { DEFAULT_FILE } from './config.ts';
import type { ConfigProblem, Fault } from './config-problem.ts';
import { type Environment, hasPlaceholders } from './environment-text.ts';

const FILE_BYTES_MAX = 1024 * 1024;

export type ConfigFile =
  | { readonly kind: 'none' }
  | { readonly kind: 'read'; readonly path: string; readonly source: string; readonly text: string }
  | { readonly kind: 'unreadable'; readonly path: string; readonly problem: ConfigProblem };

/**
 * The file named on the command line, else by TOLLGATE_CONFIG, else `tollgate.yaml` in the working directory where there
 * is one. A file that was named must be there.
 */
export function readConfigFile(named: string | undefined, environment: Environment, cwd: string): ConfigFile {
  const name = named || environment.TOLLGATE_CONFIG || null;
  const source = name ?? DEFAULT_FILE;
  const path = resolve(cwd, source);
  const unreadable = (fault: Fault, line: number | null = null): ConfigFile => ({
    kind: 'unreadable',
    path,
    problem: { source, line, column: line === null ? null : 1, path: '', ...fault },
  });
  let bytes: Buffer;
  try {
    bytes = readUpTo(path, FILE_BYTES_MAX + 1);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    if (code === 'ENOENT' && name === null) return { kind: 'none' };
    return unreadable({
      found: code === 'ENOENT' ? 'no such file' : `a file that cannot be read (${code})`,
      expected: 'a readable file',
      advice: `Look for it at ${path}.`,
    });
  }
  if (bytes.length > FILE_BYTES_MAX) {
    return unreadable({ found: 'more than 1 MiB', expected: 'a file of at most 1 MiB', advice: 'Make it smaller.' });
  }
  if (!isUtf8(bytes)) return unreadable(NOT_UTF8, lineOfBadByte(bytes));
  const text = bytes.toString('utf8');
  const badLine = text.split('\n').findIndex((line) => hasPlaceholders(line) || line.includes('\0'));
  if (badLine !== -1) return unreadable(ODD_CHARACTER, badLine + 1);
  return { kind: 'read', path, source, text };
}

function readUpTo(path: string, bytesMax: number): Buffer {
  const descriptor = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(bytesMax);
    let length = 0;
    while (length < bytesMax) {
      const count = readSync(descriptor, bytes, length, bytesMax - length, null);
      if (count === 0) break;
      length += count;
    }
    return bytes.subarray(0, length);
  } finally {
    closeSync(descriptor);
  }
}

function lineOfBadByte(bytes: Buffer): number {
  let line = 1;
  let start = 0;
  for (let end = bytes.indexOf(0x0a); end !== -1 && isUtf8(bytes.subarray(start, end)); line++) {
    start = end + 1;
    end = bytes.indexOf(0x0a, start);
  }
  return line;
}

const NOT_UTF8: Fault = {
  found: 'bytes that are not UTF-8',
  expected: 'a text file in UTF-8',
  advice: 'Save the file as UTF-8.',
};
const ODD_CHARACTER: Fault = {
  found: 'a NUL or private-use character',
  expected: 'ordinary text',
  advice: 'Remove the character; editors may not show it.',
};
