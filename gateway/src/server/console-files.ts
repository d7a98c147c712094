/**
 * Serves the built files of the console and of the documentation: hashed files cached indefinitely, pages never cached
 * and the console's with preloads for its address, each file compressed once, all under a strict policy.
 * app/build-console.ts builds them.
 */
import { extname } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import type { ConsoleApi } from '../console-api/kernel/console-api.ts';
import { acceptsEncoding } from '../lib/accepts-encoding.ts';
import type { Files } from '../lib/package/packed-files.ts';

/** No inline script or style, nothing from other origins, and no text evaluated as code. */
const CONSOLE_CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

export interface ConsoleFiles {
  /**
   * The file at a path below `/app/`, else the page, which routes the path itself; below `/docs` the document of its
   * address. Null: a hashed file that does not exist.
   */
  reply(path: string, acceptEncoding: string | null): Response | null;
}

interface BuiltFile {
  readonly type: string;
  readonly plain: Buffer;
  readonly isHashed: boolean;
  /** Compressed on first use; null: compression does not pay. */
  readonly packed: Map<'br' | 'gzip', Buffer>;
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
  '.png': 'image/png',
};
const TEXT = 'text/plain; charset=utf-8';
const ROOT = '/app/';
const PAGE = 'index.html';
/** Where the documentation is served, and its folder in the build. Written by `console/docs-site`. */
const DOCS = '/docs';
const DOCS_NOT_FOUND = 'docs/404.html';
/** Files that readers of the documentation download. */
const DOCS_FILES = 'docs/files/';
/** Written by `console/page-preloads.ts`. */
const PRELOADS = 'preloads.json';
const HASHED = /^(docs\/)?assets\//;
/** Fonts and pictures are already compressed. */
const UNPACKABLE = new Set(['font/woff2', 'image/png']);

const HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': CONSOLE_CONTENT_SECURITY_POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=()',
  vary: 'accept-encoding',
};

interface PagePreloads {
  /** A regular expression of the page's paths. */
  readonly path: string;
  /** The scripts it starts with, except those that every page has. */
  readonly files: readonly string[];
}

/** Reads a built console. Throws if it has no page. */
export function readConsoleFiles(built: Files): ConsoleFiles {
  const files = new Map<string, BuiltFile>();
  for (const [name, plain] of built) {
    const type = TYPES[extname(name)] ?? (name.startsWith(DOCS_FILES) ? TEXT : undefined);
    if (type === undefined) continue;
    files.set(name, { type, plain, isHashed: HASHED.test(name), packed: new Map() });
  }
  const page = files.get(PAGE);
  if (page === undefined) throw new Error(`the built console holds no ${PAGE}`);
  const preloads: readonly PagePreloads[] = JSON.parse(built.get(PRELOADS)?.toString() ?? '[]');
  const pages = preloads.map((one) => ({ path: new RegExp(one.path), page: withPreloads(page, one.files) }));
  /** `/docs/install` is `docs/install.html`; files of the site have their own names. */
  function docsReply(path: string, acceptEncoding: string | null): Response | null {
    const name = path.slice(DOCS.length + 1) || 'index';
    const file = files.get(`docs/${name}.html`) ?? files.get(`docs/${name}`);
    if (file !== undefined) return fileReply(file, acceptEncoding);
    const missing = files.get(DOCS_NOT_FOUND);
    if (missing === undefined || HASHED.test(`docs/${name}`)) return null;
    return fileReply(missing, acceptEncoding, 404);
  }
  return {
    reply(path, acceptEncoding) {
      if (path === DOCS || path.startsWith(`${DOCS}/`)) return docsReply(path, acceptEncoding);
      const name = path.startsWith(ROOT) ? path.slice(ROOT.length) : '';
      const file = files.get(name);
      if (file === undefined && HASHED.test(name)) return null;
      return fileReply(file ?? pages.find((one) => one.path.test(path))?.page ?? page, acceptEncoding);
    },
  };
}

/**
 * The browser fetches these while it reads the scripts common to all pages, which would request them only when they
 * run.
 */
function withPreloads(page: BuiltFile, files: readonly string[]): BuiltFile {
  const links = files.map((file) => `<link rel="modulepreload" crossorigin href="${ROOT}${file}">`).join('');
  return {
    ...page,
    plain: Buffer.from(page.plain.toString().replace('</head>', (end) => `${links}${end}`)),
    packed: new Map(),
  };
}

function fileReply(file: BuiltFile, acceptEncoding: string | null, status = 200): Response {
  const { type, isHashed, plain } = file;
  const encoding = UNPACKABLE.has(type) ? null : chooseEncoding(acceptEncoding);
  const headers = new Headers(HEADERS);
  headers.set('content-type', type);
  headers.set('cache-control', isHashed ? 'public, max-age=31536000, immutable' : 'no-cache');
  if (encoding !== null) headers.set('content-encoding', encoding);
  return new Response(encoding === null ? plain : packed(file, encoding), { status, headers });
}

function chooseEncoding(acceptEncoding: string | null): 'br' | 'gzip' | null {
  if (acceptsEncoding(acceptEncoding, 'br')) return 'br';
  return acceptsEncoding(acceptEncoding, 'gzip') ? 'gzip' : null;
}

function packed({ plain, packed: known }: BuiltFile, encoding: 'br' | 'gzip'): Buffer {
  const before = known.get(encoding);
  if (before !== undefined) return before;
  const made =
    encoding === 'br'
      ? brotliCompressSync(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } })
      : // 3% smaller than zlib's best.
        Buffer.from(Bun.gzipSync(new Uint8Array(plain), { library: 'libdeflate', level: 12 }).buffer);
  known.set(encoding, made);
  return made;
}

export interface ConsoleServer {
  readonly api: ConsoleApi;
  /** Starts preparing the files, so that the first page does not wait. */
  prepare(): void;
  /** The file or page at a path; waits for the build at first start. */
  showPage(path: string, request: Request): Promise<Response>;
}

/** A build takes seconds of processor time: visitors must not start one after another. */
const RETRY_MS = 30_000;

/**
 * `build` returns the built files; it is called when they are first needed, and again for a page some time after it failed,
 * as on a full disk. Its failure goes to the client that opens the console, and to `onFailure`.
 */
export function createConsoleServer(
  api: ConsoleApi,
  build: () => Promise<Files>,
  onFailure: (cause: unknown) => void,
  retryMs = RETRY_MS,
): ConsoleServer {
  let files: Promise<ConsoleFiles> | null = null;
  let failedMs: number | null = null;
  function start(): Promise<ConsoleFiles> {
    const started = build().then(readConsoleFiles);
    failedMs = null;
    started.catch((cause: unknown) => {
      failedMs = performance.now();
      onFailure(cause);
    });
    return started;
  }
  return {
    api,
    prepare() {
      files ??= start();
    },
    async showPage(path, request) {
      let ready: ConsoleFiles;
      try {
        if (failedMs !== null && performance.now() - failedMs >= retryMs) files = null;
        files ??= start();
        ready = await files;
      } catch (cause) {
        return plainReply(
          500,
          `The console could not be built and is not served. API requests are.\n\n${String(cause)}\n`,
        );
      }
      const page = ready.reply(path, request.headers.get('accept-encoding'));
      return page ?? plainReply(404, 'This file does not exist. Tollgate was updated; reload the page.\n');
    },
  };
}

function plainReply(status: number, text: string): Response {
  return new Response(text, {
    status,
    headers: {
      'content-type': TEXT,
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    },
  });
}
