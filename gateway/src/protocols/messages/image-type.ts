/** Owns telling an image's format by its first bytes. Decodes no image. */

const HEAD_BASE64_CHARS = 24;

const SIGNATURES: ReadonlyArray<readonly [mediaType: string, pattern: RegExp]> = [
  ['image/png', /^89504e470d0a1a0a/],
  ['image/jpeg', /^ffd8ff/],
  ['image/gif', /^474946383[79]61/],
  ['image/webp', /^52494646.{8}57454250/],
];

/** One of the four types that Anthropic takes, whatever the sender called it; null: it is none of them. */
export function imageTypeOf(base64: string): string | null {
  const head = Buffer.from(base64.slice(0, HEAD_BASE64_CHARS), 'base64').toString('hex');
  return SIGNATURES.find(([, pattern]) => pattern.test(head))?.[0] ?? null;
}
