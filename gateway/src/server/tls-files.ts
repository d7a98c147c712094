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
/** What was refused may have lacked something else, such as a file descriptor: it is tried again at each of so many looks. */
const RETRY_LOOKS = 6;

interface TlsLog {
  info(words: string): void;
  error(members: { readonly cause: string }, words: string): void;
}

/**
 * Starts the watch; returns a function that stops it. `first` is served already. `filesOf`: the present files, null: not
 * now. `serve` serves a changed pair, or throws if it cannot; then the one before stays, each such change is logged once,
 * and it is tried again.
 */
export function watchTls(
  first: TlsPair,
  filesOf: () => TlsFiles | null,
  serve: (pair: TlsPair) => void,
  log: TlsLog,
  everyMs = LOOK_EVERY_MS,
): () => void {
  let served = first;
  let refused = '';
  let looks = 0;
  const look = () => {
    const files = filesOf();
    if (files === null) return;
    let state = '';
    try {
      const pair = loadTls(files);
      if (pair.cert === served.cert && pair.key === served.key) {
        refused = '';
        return;
      }
      state = `${pair.cert}\n${pair.key}`;
      looks = state === refused ? looks + 1 : 0;
      if (looks % RETRY_LOOKS !== 0) return;
      serve(pair);
      served = pair;
      refused = '';
      log.info('the changed certificate of server.tls is served');
    } catch (error) {
      const cause = error instanceof Error ? error.message : String(error);
      if (state === '') state = cause;
      if (state !== refused) {
        log.error(
          { cause },
          'the files of server.tls cannot be served: the certificate before is served on, until it expires',
        );
      }
      refused = state;
    }
  };
  const timer = setInterval(look, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}
