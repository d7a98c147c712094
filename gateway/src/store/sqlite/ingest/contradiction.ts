/** Defines the failure of an ingest whose frames contradict the tables. */

/** The message says what contradicts; the ingest adds the number of the block. */
export class Contradiction extends Error {
  override readonly name = 'Contradiction';
}
