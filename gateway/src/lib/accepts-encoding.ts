/** Owns reading `accept-encoding`: whether an answer may be packed so. */

/** Whether the header names the encoding, and not with a quality of nothing. Null: there is no header. */
export function acceptsEncoding(header: string | null, encoding: 'br' | 'gzip'): boolean {
  return (header ?? '')
    .split(',')
    .map((word) => word.trim())
    .some((word) => word === encoding || (word.startsWith(`${encoding};`) && !/;\s*q=0(\.0*)?$/.test(word)));
}
