/** Reads the server's certificate and key, and watches the files, so that a renewed certificate is served without a restart. */
import { readFileSync } from 'node:fs';
import type { TlsFiles } from '../config/config.ts';

/** PEM texts. */
export interface TlsPair {
  readonly cert: string;
  readonly key: string;
}

/** Throws an Error that names the file. The runtime checks the contents. */
export function loadTls({ cert, key }: TlsFiles): TlsPair {
  return { cert: read('cert', cert), key: read('key', key) };
}

function read(member: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw new Error(`server.tls.${member}: ${file} cannot be read (${code})`, { cause: error });
  }
}

/**
 * Reads the files again and again; polling also sees a link that was pointed elsewhere, as certbot and Kubernetes do.
 */
const LOOK_EVERY_MS = 10_000;

export interface TlsWatch {
  /** The present files; null: not watched now. */
  files(): TlsFiles | null;
  /** Serves a changed pair. Throws if it is unusable; then the one before stays. */
  serve(pair: TlsPair): void;
  onServed(): void;
  /** Called once for each change that is unusable. */
  onRefused(cause: string): void;
}

/** Starts the watch; `first` is served already. Returns a function that stops it. */
export function watchTls(first: TlsPair, watch: TlsWatch, everyMs = LOOK_EVERY_MS): () => void {
  let served = first;
  let refused = '';
  const look = () => {
    const files = watch.files();
    if (files === null) return;
    let state = '';
    try {
      const pair = loadTls(files);
      if (pair.cert === served.cert && pair.key === served.key) {
        refused = '';
        return;
      }
      state = `${pair.cert}\n${pair.key}`;
      if (state === refused) return;
      watch.serve(pair);
      served = pair;
      watch.onServed();
    } catch (error) {
      const cause = error instanceof Error ? error.message : String(error);
      if (state === '') state = cause;
      if (state !== refused) watch.onRefused(cause);
      refused = state;
    }
  };
  const timer = setInterval(look, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}
