/** Parses byte sizes as people write them (`32MiB`, `256KiB`, `1000B`). Binary units only, as memory is counted. */

const UNIT_BYTES = new Map([
  ['B', 1],
  ['KiB', 1024],
  ['MiB', 1024 ** 2],
  ['GiB', 1024 ** 3],
  ['TiB', 1024 ** 4],
]);

/**
 * The bytes of a size such as `32MiB`, `256KiB` or `1000B`: a whole number followed by its unit.
 *
 * @throws RangeError that says what was found and what was expected.
 */
export function parseByteSize(text: string): number {
  const [, count, unit] = /^(\d{1,16})(B|KiB|MiB|GiB|TiB)$/.exec(text) ?? [];
  const unitBytes = unit === undefined ? undefined : UNIT_BYTES.get(unit);
  if (count === undefined || unitBytes === undefined) {
    const found = text.length > 40 ? `${text.slice(0, 40)}…` : text;
    throw new RangeError(
      `found ${JSON.stringify(found)}, expected a whole number and a unit: B, KiB, MiB, GiB or TiB (such as 32MiB)`,
    );
  }
  const bytes = Number(count) * unitBytes;
  if (!Number.isSafeInteger(bytes)) throw new RangeError(`found ${text}, expected at most 8191TiB`);
  return bytes;
}
