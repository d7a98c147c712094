/** Packs a folder of built files into one file, which a package or a binary carries, and unpacks it. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';

/** Files by their path below the folder, with `/` between its parts. */
export type Files = ReadonlyMap<string, Buffer>;

export function readFolder(folder: string): Files {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = entries.map(({ parentPath, name }) => join(parentPath, name)).sort();
  return new Map(
    paths.map((path) => [
      path
        .slice(folder.length + 1)
        .split(sep)
        .join('/'),
      readFileSync(path),
    ]),
  );
}

/** The same bytes for the same files. */
export function packFiles(files: Files): Uint8Array {
  const texts = [...files].map(([path, content]) => [path, content.toString('base64')] as const);
  return Bun.gzipSync(JSON.stringify(Object.fromEntries(texts.sort(([one], [other]) => (one < other ? -1 : 1)))), {
    level: 9,
  });
}

export function unpackFiles(packed: Buffer): Files {
  const texts: Readonly<Record<string, string>> = JSON.parse(
    new TextDecoder().decode(Bun.gunzipSync(new Uint8Array(packed))),
  );
  return new Map(Object.entries(texts).map(([path, text]) => [path, Buffer.from(text, 'base64')]));
}
