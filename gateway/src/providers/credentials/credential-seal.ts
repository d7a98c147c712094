/** Encrypts a provider's secrets, bound to their owner and their destination. Stores nothing. */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { Secret } from '../../lib/secret.ts';
import type { Secrets } from '../provider.ts';

/** Sealed secrets open only for this binding. */
export interface CredentialBinding {
  /** The account that owns them. */
  readonly tenant: string;
  readonly provider: string;
  /** `https://host:port`. */
  readonly origin: string;
}

export interface CredentialSeal {
  /** Base64. */
  seal(binding: CredentialBinding, secrets: Secrets): string;
  /** Null: they were sealed for another binding or with another master key, or were changed since. */
  open(binding: CredentialBinding, sealed: string): Secrets | null;
}

/** 1: the text of one `api_key`. 2: JSON of a set of secrets by name. Only 2 is written. */
const SINGLE_VERSION = 1;
const SET_VERSION = 2;
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const BOX_OVERHEAD_BYTES = NONCE_BYTES + TAG_BYTES;
const WRAPPED_BYTES = KEY_BYTES + BOX_OVERHEAD_BYTES;

/**
 * AES-256-GCM twice: the secrets under their own key, and that key under one derived from the master key. The master
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
    seal(binding, secrets) {
      const bound = renderBinding(binding, SET_VERSION);
      const dataKey = randomBytes(KEY_BYTES);
      const wrapped = encrypt(wrappingKey, bound, dataKey);
      const text = encrypt(dataKey, bound, renderSecrets(secrets));
      return Buffer.concat([Buffer.of(SET_VERSION), wrapped, text]).toString('base64');
    },
    open(binding, sealed) {
      const bytes = Buffer.from(sealed, 'base64');
      const [version] = bytes;
      if (
        (version !== SINGLE_VERSION && version !== SET_VERSION) ||
        bytes.length < 1 + WRAPPED_BYTES + BOX_OVERHEAD_BYTES
      )
        return null;
      const bound = renderBinding(binding, version);
      const dataKey = decrypt(wrappingKey, bound, bytes.subarray(1, 1 + WRAPPED_BYTES));
      const text = dataKey === null ? null : decrypt(dataKey, bound, bytes.subarray(1 + WRAPPED_BYTES));
      if (text === null) return null;
      return version === SINGLE_VERSION ? { api_key: new Secret(text.toString()) } : readSecrets(text);
    },
  };
}

function renderSecrets(secrets: Secrets): Buffer {
  return Buffer.from(JSON.stringify(Object.entries(secrets).map(([name, secret]) => [name, secret.reveal()])));
}

/** `text` is authentic: `renderSecrets` wrote it. */
function readSecrets(text: Buffer): Secrets {
  const entries = JSON.parse(text.toString()) as ReadonlyArray<readonly [string, string]>;
  return Object.fromEntries(entries.map(([name, secret]) => [name, new Secret(secret)]));
}

/** As JSON, so that no two bindings have the same text; with the version, so that no text opens as another version's. */
function renderBinding({ tenant, provider, origin }: CredentialBinding, version: number): Buffer {
  return Buffer.from(JSON.stringify([tenant, provider, origin, ...(version === SINGLE_VERSION ? [] : [version])]));
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
