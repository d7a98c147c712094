/** Owns splitting a long secret into pieces that can be typed off a screen. */

/** `JBSWY3DPEHPK3PXP` → `JBSW Y3DP EHPK 3PXP`. Authenticator apps ignore the spaces. */
export function grouped(secret: string): string {
  return secret.replace(/(.{4})(?=.)/g, '$1 ');
}
