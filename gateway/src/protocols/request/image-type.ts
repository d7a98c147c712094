/** Recognizes the type of an image by its first bytes: the four types that Anthropic and Bedrock accept. */

const HEAD_BASE64_CHARS = 24;

const SIGNATURES: ReadonlyArray<readonly [format: ImageFormat, pattern: RegExp]> = [
  ['png', /^89504e470d0a1a0a/],
  ['jpeg', /^ffd8ff/],
  ['gif', /^474946383[79]61/],
  ['webp', /^52494646.{8}57454250/],
];

/** The part of the media type after `image/`. */
type ImageFormat = 'png' | 'jpeg' | 'gif' | 'webp';

/** The format of the bytes, whatever type was declared; undefined for any other. */
export function imageFormatOf(base64: string): ImageFormat | undefined {
  const head = Buffer.from(base64.slice(0, HEAD_BASE64_CHARS), 'base64').toString('hex');
  return SIGNATURES.find(([, pattern]) => pattern.test(head))?.[0];
}
