/** Owns what a command may touch of the outside world, and how it ends badly. Knows no command and no parser. */

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
