/** Owns what a command may touch of the outside world, and how it ends badly. Knows no command and no parser. */
import type { Json } from '../control/command.ts';

/** The world as a command sees it: every command prints through it, so that a test can read what was said. */
export interface CliEnvironment {
  /** The folder with the database, the master key and the control socket; absolute or relative to the working directory. */
  readonly dataDir: string;
  /** Writes text as it is, without adding a line break, to where results go. */
  stdout(text: string): void;
  /** Writes text as it is, without adding a line break, to where warnings and errors go. */
  stderr(text: string): void;
  /** The present, unix ms. */
  nowMs(): number;
}

/** 1: what was asked could not be done. 2: it was asked for wrongly. */
export type FailureExitCode = 1 | 2;

/**
 * How a command ends badly: the command line prints `message` to standard error and exits with `exitCode`. An empty
 * message means that the command has said all itself.
 */
export class CliFailure extends Error {
  readonly exitCode: FailureExitCode;

  constructor(exitCode: FailureExitCode, message: string) {
    super(message);
    this.name = 'CliFailure';
    this.exitCode = exitCode;
  }
}

/** One JSON value on a line of its own. */
export function renderJsonLine(value: Json | object): string {
  return `${JSON.stringify(value)}\n`;
}

/** Rows under a heading, in columns as wide as their widest cell. Control characters in cells are made visible. */
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

/** Named values, one on each line, in two columns. */
export function renderFields(fields: readonly (readonly [name: string, value: string])[]): string {
  const width = Math.max(...fields.map(([name]) => name.length));
  return fields.map(([name, value]) => `  ${name.padEnd(width)}  ${makeVisible(value)}\n`).join('');
}

/** Text that cannot move the cursor, ring a bell or reverse the line: what callers wrote is only ever text. */
export function makeVisible(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (found) => `\\u{${found.codePointAt(0)?.toString(16)}}`);
}

function pad(cell: string, width: number): string {
  return cell + ' '.repeat(Math.max(0, width - widthOf(cell)));
}

function widthOf(cell: string): number {
  return Bun.stringWidth(cell);
}
