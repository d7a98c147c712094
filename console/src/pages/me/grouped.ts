/** Splits a long secret into groups that are easy to type. */

/** `JBSWY3DPEHPK3PXP` → `JBSW Y3DP EHPK 3PXP`. Authenticator apps ignore the spaces. */
export function grouped(secret: string): string {
  return secret.replace(/(.{4})(?=.)/g, '$1 ');
}
