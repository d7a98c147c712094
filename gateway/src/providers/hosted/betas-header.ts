/** Reads and writes the header that names a client's betas of messages. */
import type { HeaderLine } from '../provider.ts';

const HEADER = 'anthropic-beta';

export function readBetas(headers: readonly HeaderLine[]): readonly string[] {
  const lines = headers.flatMap(([name, value]) => (name.toLowerCase() === HEADER ? value.split(',') : []));
  return lines.map((beta) => beta.trim()).filter((beta) => beta !== '');
}

/** The headers with these betas instead of the client's. */
export function withBetas(headers: readonly HeaderLine[], betas: readonly string[]): readonly HeaderLine[] {
  const others = headers.filter(([name]) => name.toLowerCase() !== HEADER);
  return betas.length === 0 ? others : [...others, [HEADER, betas.join(',')]];
}
