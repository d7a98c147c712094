/**
 * Defines what a command may use of the outside world, how it reports failure, and how it formats output. Knows no
 * command and no parser.
 */
import { readFileSync } from 'node:fs';
import { nameUnreadable } from '../config/file/config-problem.ts';
import type { Json } from '../control/command.ts';
import { HIDDEN } from '../lib/hidden-characters.ts';

/** A command's view of the world: every command prints through it, so that tests can read its output. */
export interface CliEnvironment {
  /** The folder with the database, the master key and the control socket; absolute or relative to the working directory. */
  readonly dataDir: string;
  /** Writes text to standard output as it is, without adding a line break. */
  stdout(text: string): void;
  /** Writes text to standard error as it is, without adding a line break. */
  stderr(text: string): void;
  /** The current time, unix ms. */
  nowMs(): number;
}

/** 1: the request could not be carried out. 2: wrong usage. */
export type FailureExitCode = 1 | 2;

/**
 * Ends a command with a failure: the command line prints `message` to standard error and exits with `exitCode`. An
 * empty message means that the command has already printed everything.
 */
export class CliFailure extends Error {
  readonly exitCode: FailureExitCode;

  constructor(exitCode: FailureExitCode, message: string) {
    super(message);
    this.name = 'CliFailure';
    this.exitCode = exitCode;
  }
}

/** Reads a file that a flag names. @throws CliFailure with exit code 1 */
export function readNamedFile(flag: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (fault) {
    throw new CliFailure(1, `${flag} ${path}: found ${nameUnreadable(fault)}, expected a readable file`);
  }
}

/** Renders one JSON value on its own line. */
export function renderJsonLine(value: Json | object): string {
  return `${JSON.stringify(value)}\n`;
}

/**
 * Renders rows under a heading, in columns as wide as their widest cell. Control characters in cells are made visible.
 */
export function renderTable(heading: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [heading, ...rows].map((cells) => cells.map(makeVisible));
  const widths = heading.map((_, column) => Math.max(...lines.map((cells) => widthOf(cells[column] ?? ''))));
  return lines
    .map(
      (cells) =>
        `${cells
          .map((cell, column) => pad(cell, widths[column] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}

/** Renders named values, one per line, in two columns. */
export function renderFields(fields: readonly (readonly [name: string, value: string])[]): string {
  const width = Math.max(...fields.map(([name]) => name.length));
  return fields.map(([name, value]) => `  ${name.padEnd(width)}  ${makeVisible(value)}\n`).join('');
}

/** Prints an object: as JSON, or the members that have a value as named values. */
export function printObject({ stdout }: Pick<CliEnvironment, 'stdout'>, value: object, json: true | undefined): void {
  const fields = Object.entries(value).flatMap(([name, member]) => {
    const text = Array.isArray(member) ? member.join(', ') : String(member ?? '');
    return text === '' ? [] : [[name.replaceAll('_', ' '), text] as const];
  });
  stdout(json ? renderJsonLine(value) : renderFields(fields));
}

/**
 * Replaces characters that could move the cursor, ring a bell or reverse the line: client-provided text is only ever
 * text.
 */
export function makeVisible(text: string): string {
  return text.replace(HIDDEN, (found) => `\\u{${found.codePointAt(0)?.toString(16)}}`);
}

function pad(cell: string, width: number): string {
  return cell + ' '.repeat(Math.max(0, width - widthOf(cell)));
}

function widthOf(cell: string): number {
  return Bun.stringWidth(cell);
}
