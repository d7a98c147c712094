/** Encrypts a provider's credential, bound to its owner and its destination. Stores nothing. */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { Secret } from '../lib/secret.ts';

/** A sealed credential opens only for this binding. */
export interface CredentialBinding {
  /** The account that owns it. */
  readonly tenant: string;
  readonly provider: string;
  /** `https://host:port`. */
  readonly origin: string;
}

export interface CredentialSeal {
  /** Base64. */
  seal(binding: CredentialBinding, credential: Secret): string;
  /** Null: it was sealed for another binding or with another master key, or was changed since. */
  open(binding: CredentialBinding, sealed: string): Secret | null;
}

const VERSION = 1;
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const BOX_OVERHEAD_BYTES = NONCE_BYTES + TAG_BYTES;
const WRAPPED_BYTES = KEY_BYTES + BOX_OVERHEAD_BYTES;

/**
 * AES-256-GCM twice: the credential under its own key, and that key under one derived from the master key. The master
 * key can thus be replaced by wrapping only the small keys again. Both layers are bound to the same binding.
 */
export function createCredentialSeal(masterKey: Secret): CredentialSeal {
  const derived = hkdfSync(
    'sha256',
    Buffer.from(masterKey.reveal(), 'hex'),
    '',
    'tollgate provider credential v1',
    KEY_BYTES,
  );
  const wrappingKey = Buffer.from(derived);
  return {
    seal(binding, credential) {
      const bound = renderBinding(binding);
      const dataKey = randomBytes(KEY_BYTES);
      const wrapped = encrypt(wrappingKey, bound, dataKey);
      const text = encrypt(dataKey, bound, Buffer.from(credential.reveal()));
      return Buffer.concat([Buffer.of(VERSION), wrapped, text]).toString('base64');
    },
    open(binding, sealed) {
      const bytes = Buffer.from(sealed, 'base64');
      if (bytes[0] !== VERSION || bytes.length < 1 + WRAPPED_BYTES + BOX_OVERHEAD_BYTES) return null;
      const bound = renderBinding(binding);
      const dataKey = decrypt(wrappingKey, bound, bytes.subarray(1, 1 + WRAPPED_BYTES));
      const text = dataKey === null ? null : decrypt(dataKey, bound, bytes.subarray(1 + WRAPPED_BYTES));
      return text === null ? null : new Secret(text.toString('utf8'));
    },
  };
}

/** As JSON, so that no two bindings have the same text. */
function renderBinding({ tenant, provider, origin }: CredentialBinding): Buffer {
  return Buffer.from(JSON.stringify([tenant, provider, origin]));
}

/** Nonce, tag, then the encrypted bytes. */
function encrypt(key: Buffer, bound: Buffer, plain: Buffer): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(bound);
  const encrypted = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), encrypted]);
}

function decrypt(key: Buffer, bound: Buffer, box: Buffer): Buffer | null {
  const decipher = createDecipheriv('aes-256-gcm', key, box.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAAD(bound).setAuthTag(box.subarray(NONCE_BYTES, BOX_OVERHEAD_BYTES));
  const plain = decipher.update(box.subarray(BOX_OVERHEAD_BYTES));
  try {
    decipher.final();
  } catch {
    return null;
  }
  return plain;
}
