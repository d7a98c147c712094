/**
 * Seals what a client carries for an upstream of another format: reasoning with its signature, other parts that their issuer
 * wants back, data of tool calls, and summaries of conversations. Only this gateway opens it, and only for the same owner.
 * Contract, 10.15.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { SealedContent } from '../../generation/part.ts';
import type { Secret } from '../../lib/secret.ts';
import { SEAL_PREFIX } from '../../protocols/own-marks.ts';

/** Who may open it. Empty issuer and model: a summary, which is text that any model may read. */
export interface SealOwner {
  readonly account: string;
  readonly workspace: string;
  /** The party that signs the reasoning (`issuerOf`). */
  readonly issuer: string;
  /** The model's name at that party. */
  readonly model: string;
}

export interface ReasoningSeal {
  /** `gw2.` and base64url. */
  seal(owner: SealOwner, content: SealedContent): string;
  /** Null: not sealed for this owner with this master key, or changed since. */
  open(owner: SealOwner, sealed: string): SealedContent | null;
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * AES-256-GCM with a key derived from the master key, and the owner as additional data. Sealed form: the nonce, the tag,
 * then the ciphertext of the content as JSON. A random nonce is safe for 2^32 items (NIST SP 800-38D, 8.3): 100 per second
 * for a year, of translated answers only.
 */
export function createReasoningSeal(masterKey: Secret): ReasoningSeal {
  const derived = hkdfSync('sha256', Buffer.from(masterKey.reveal(), 'hex'), '', 'tollgate sealed reasoning v2', 32);
  const key = Buffer.from(derived);
  return {
    seal(owner, content) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(boundTo(owner));
      const parts = [cipher.update(JSON.stringify(content), 'utf8'), cipher.final()];
      return SEAL_PREFIX + Buffer.concat([nonce, cipher.getAuthTag(), ...parts]).toString('base64url');
    },
    open(owner, text) {
      if (!text.startsWith(SEAL_PREFIX)) return null;
      const written = text.slice(SEAL_PREFIX.length);
      const sealed = Buffer.from(written, 'base64url');
      // The decoder ignores characters that no encoder writes.
      if (sealed.length < NONCE_BYTES + TAG_BYTES || sealed.toString('base64url') !== written) return null;
      const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE_BYTES), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAAD(boundTo(owner)).setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
      const plain = decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES));
      try {
        decipher.final();
      } catch {
        return null;
      }
      return JSON.parse(plain.toString()) as SealedContent;
    },
  };
}

function boundTo({ account, workspace, issuer, model }: SealOwner): Buffer {
  return Buffer.from(JSON.stringify([account, workspace, issuer, model]));
}
