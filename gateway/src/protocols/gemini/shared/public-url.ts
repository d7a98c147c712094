/**
 * Tells whether anyone may read an address. Google reads a bucket (`gs:`) and its own files with the operator's credential:
 * they may be another caller's. Contract, 10.12.
 */
const GOOGLES_FILES = /(?:generativelanguage|aiplatform)\.(?:[a-z]+\.rep\.)?googleapis\.com\.?$/;

export function isPublicUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && ['https:', 'http:'].includes(url.protocol) && !GOOGLES_FILES.test(url.hostname);
}
