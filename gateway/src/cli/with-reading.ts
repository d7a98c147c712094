/** Owns opening the data folder for a command that only looks, and closing it after. */
import { openReading, type StoreReading } from '../store/sql/open-reading.ts';
import { type CliEnvironment, CliFailure } from './cli-environment.ts';

/** @throws CliFailure with exit code 1 where the data folder cannot be read. */
export async function withReading<Found>(
  { dataDir }: CliEnvironment,
  look: (reading: StoreReading) => Promise<Found>,
): Promise<Found> {
  let reading: StoreReading | null = null;
  try {
    reading = openReading(dataDir);
    return await look(reading);
  } catch (fault) {
    throw new CliFailure(1, fault instanceof Error ? fault.message : String(fault));
  } finally {
    reading?.close();
  }
}
