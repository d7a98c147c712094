/**
 * Owns the console's built files as they are served: hashed ones for ever, the page itself never kept and with what its address
 * needs named in its head, each compressed once, all under a strict policy. Builds nothing; `app/build-console.ts` does.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join, sep } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { ConsoleApi } from '../console-api/kernel/console-api.ts';
import { acceptsEncoding } from '../lib/accepts-encoding.ts';

/** No inline script or style, nothing from elsewhere, and no text that becomes code. */
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
  /** The file at a path below `/app/`, else the page, which knows the path itself. Null: a hashed file that there is not. */
  reply(path: string, acceptEncoding: string | null): Response | null;
}

interface BuiltFile {
  readonly type: string;
  readonly plain: Buffer;
  readonly isHashed: boolean;
  /** Made when it is first asked for; null: compressing does not pay. */
  readonly packed: Map<'br' | 'gzip', Buffer>;
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};
const ROOT = '/app/';
const PAGE = 'index.html';
/** Made by `console/page-preloads.ts`. */
const PRELOADS = 'preloads.json';
const HASHED = 'assets/';
/** Fonts are compressed already. */
const PACKABLE = new Set(['.html', '.js', '.css', '.svg']);

const HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': CONSOLE_CONTENT_SECURITY_POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=()',
  vary: 'accept-encoding',
};

interface PagePreloads {
  /** A regular expression of the paths that the page has. */
  readonly path: string;
  /** Of the scripts that it begins with, those that are not in every page. */
  readonly files: readonly string[];
}

/** Reads a built console. Throws where the folder holds no page. */
export function readConsoleFiles(folder: string): ConsoleFiles {
  const files = new Map<string, BuiltFile>();
  for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const type = TYPES[extname(path)];
    if (type === undefined) continue;
    const name = path.split(sep).join('/');
    files.set(name, {
      type,
      plain: readFileSync(join(folder, path)),
      isHashed: name.startsWith(HASHED),
      packed: new Map(),
    });
  }
  const page = files.get(PAGE);
  if (page === undefined) throw new Error(`the folder ${folder} holds no ${PAGE}`);
  const preloads: readonly PagePreloads[] = JSON.parse(readFileSync(join(folder, PRELOADS), 'utf8'));
  const pages = preloads.map((one) => ({ path: new RegExp(one.path), page: withPreloads(page, one.files) }));
  return {
    reply(path, acceptEncoding) {
      const name = path.startsWith(ROOT) ? path.slice(ROOT.length) : '';
      const file = files.get(name);
      if (file === undefined && name.startsWith(HASHED)) return null;
      return fileReply(file ?? pages.find((one) => one.path.test(path))?.page ?? page, acceptEncoding);
    },
  };
}

/** The browser fetches them while it reads the scripts of every page, which would ask for them only when they run. */
function withPreloads(page: BuiltFile, files: readonly string[]): BuiltFile {
  const links = files.map((file) => `<link rel="modulepreload" crossorigin href="${ROOT}${file}">`).join('');
  return {
    ...page,
    plain: Buffer.from(page.plain.toString().replace('</head>', (end) => `${links}${end}`)),
    packed: new Map(),
  };
}

function fileReply(file: BuiltFile, acceptEncoding: string | null): Response {
  const { type, isHashed, plain } = file;
  const encoding = PACKABLE.has(`.${extensionOf(type)}`) ? chooseEncoding(acceptEncoding) : null;
  const headers = new Headers(HEADERS);
  headers.set('content-type', type);
  headers.set('cache-control', isHashed ? 'public, max-age=31536000, immutable' : 'no-cache');
  if (encoding !== null) headers.set('content-encoding', encoding);
  return new Response(encoding === null ? plain : packed(file, encoding), { headers });
}

function extensionOf(type: string): string {
  return (
    Object.entries(TYPES)
      .find(([, known]) => known === type)?.[0]
      .slice(1) ?? ''
  );
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
      : gzipSync(plain, { level: 9 });
  known.set(encoding, made);
  return made;
}

export interface ConsoleDesk {
  readonly api: ConsoleApi;
  /** Begins to make the files ready, so that the first page need not wait for that. */
  prepare(): void;
  /** The file or page at a path; waits for the build of the first start. */
  showPage(path: string, request: Request): Promise<Response>;
}

/** `build` answers the folder of the built files; it is called once, when they are first needed. Its failure is told to whoever opens the console, and `onFailure`. */
export function createConsoleDesk(
  api: ConsoleApi,
  build: () => Promise<string>,
  onFailure: (cause: unknown) => void,
): ConsoleDesk {
  let files: Promise<ConsoleFiles> | null = null;
  function start(): Promise<ConsoleFiles> {
    const started = build().then(readConsoleFiles);
    started.catch(onFailure);
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
        files ??= start();
        ready = await files;
      } catch (cause) {
        return plainReply(
          500,
          `The console could not be built, so it is not served. Calls are served all the same.\n\n${String(cause)}\n`,
        );
      }
      const page = ready.reply(path, request.headers.get('accept-encoding'));
      return page ?? plainReply(404, 'There is no such file. The console was renewed; reload the page.\n');
    },
  };
}

function plainReply(status: number, text: string): Response {
  return new Response(text, {
    status,
    headers: {
      'content-type': 'text/plain; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    },
  });
}
