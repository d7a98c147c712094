/**
 * Loads the check of passkeys on first use, because the WebAuthn library takes a tenth of a second, and before it the
 * polyfill that it imports: in a bundle it would come after the code that needs it (Bun 1.4.5).
 */
export async function loadPasskeyCheck(): Promise<typeof import('./passkey-check.ts')> {
  await import('reflect-metadata');
  return import('./passkey-check.ts');
}
