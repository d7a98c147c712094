/**
 * Says how this program was installed. The build of a package or binary replaces this file
 * (`gateway/scripts/package/bundle-program.ts`).
 */

export interface Distribution {
  /** How an operator runs a command, as messages say it. */
  readonly command: string;
  /** The packed files of the console; null: a clone, which builds them from its sources. */
  readonly console: string | null;
}

export const DISTRIBUTION: Distribution = { command: 'bin/tollgate', console: null };
