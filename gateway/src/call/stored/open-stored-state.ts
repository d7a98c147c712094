/**
 * Keeps the conversations of responses that this gateway translated: compressed and encrypted, each bound to its workspace
 * and request. Off unless `defaults.store_responses` is on. Source: specification of the Responses API, E.1.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { zstdCompress, zstdDecompress } from 'node:zlib';
import type { Secret } from '../../lib/secret.ts';
import type { JsonObject } from '../../protocols/json.ts';
import type { StateOwner, StoredStateStore } from '../../store/ports/stored-state.ts';

/** How long conversations are kept. */
export const CONVERSATION_KEPT_MS = 24 * 60 * 60 * 1000;
/** A larger one is not kept. */
const BYTES_MAX = 16 * 1024 * 1024;

/** A response whose call ends now. */
export interface EndedResponse {
  readonly object: JsonObject;
  /** Set once the conversation is kept. */
  isKept: boolean;
}

export interface Conversation {
  /** The items of the whole input as JSON, separated by commas: earlier conversations included. */
  readonly input: string;
  /** The response object as JSON. */
  readonly response: string;
}

/** What calls need of stored state. */
export interface StoredState
  extends Pick<StoredStateStore, 'find' | 'add' | 'addTokens' | 'list' | 'remove' | 'forget'> {
  /** Resolves whether it is kept, durably. Rejects where the store fails. */
  keep(owner: StateOwner, requestId: string, conversation: Conversation, expiresAtMs: number): Promise<boolean>;
  /** Null: it is gone, or cannot be opened with this master key. Rejects where the store fails. */
  read(owner: StateOwner, requestId: string): Promise<Conversation | null>;
}

const VERSION = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const TAG_AT = 1 + NONCE_BYTES;
const TEXT_AT = TAG_AT + TAG_BYTES;
const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

/** AES-256-GCM over zstd: a version byte, the nonce, the tag, the ciphertext. */
export function openStoredState(masterKey: Secret, store: Omit<StoredStateStore, 'sweep'>): StoredState {
  const key = Buffer.from(
    hkdfSync('sha256', Buffer.from(masterKey.reveal(), 'hex'), '', 'tollgate stored responses v1', 32),
  );

  async function seal(owner: StateOwner, requestId: string, conversation: Conversation): Promise<Buffer> {
    const text = await compress(Buffer.from(JSON.stringify(conversation)));
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(boundTo(owner, requestId));
    const encrypted = Buffer.concat([cipher.update(text), cipher.final()]);
    return Buffer.concat([Buffer.of(VERSION), nonce, cipher.getAuthTag(), encrypted]);
  }

  async function open(owner: StateOwner, requestId: string, sealed: Uint8Array): Promise<Conversation | null> {
    if (sealed.length < TEXT_AT || sealed[0] !== VERSION) return null;
    const nonce = sealed.subarray(1, TAG_AT);
    const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(boundTo(owner, requestId)).setAuthTag(sealed.subarray(TAG_AT, TEXT_AT));
    try {
      const text = Buffer.concat([decipher.update(sealed.subarray(TEXT_AT)), decipher.final()]);
      return JSON.parse((await decompress(text)).toString()) as Conversation;
    } catch {
      return null;
    }
  }

  return {
    find: store.find,
    add: store.add,
    addTokens: store.addTokens,
    list: store.list,
    remove: store.remove,
    forget: store.forget,
    async keep(owner, requestId, conversation, expiresAtMs) {
      if (conversation.input.length + conversation.response.length > BYTES_MAX) return false;
      const sealed = await seal(owner, requestId, conversation);
      return (await store.keep(owner, requestId, sealed, expiresAtMs)) === 'kept';
    },
    async read(owner, requestId) {
      const sealed = await store.readKept(owner, requestId);
      return sealed === null ? null : open(owner, requestId, sealed);
    },
  };
}

/** A conversation that was moved to another account, workspace or request cannot be opened. */
function boundTo({ account, workspace }: StateOwner, requestId: string): Buffer {
  return Buffer.from([account, workspace, requestId].join('|'));
}
