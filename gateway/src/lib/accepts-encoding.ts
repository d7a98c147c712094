/** Parses `accept-encoding`: decides whether a response may use an encoding. */

/** Whether the header names the encoding with a quality above zero. Null: there is no header. */
export function acceptsEncoding(header: string | null, encoding: 'br' | 'gzip'): boolean {
  return (header ?? '')
    .split(',')
    .map((word) => word.trim())
    .some((word) => word === encoding || (word.startsWith(`${encoding};`) && !/;\s*q=0(\.0*)?$/.test(word)));
}
