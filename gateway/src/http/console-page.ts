/** Owns serving the console's files: read once, with their types and a strict policy. The pages are the console's own. */
import { readFileSync } from 'node:fs';
import {
  COMING_ASSETS,
  COMING_CONTENT_SECURITY_POLICY,
  COMING_PAGE,
  type ConsoleFile,
} from '../../../console/src/coming.ts';

const loaded = new Map<string, Buffer>();

/** The page or asset at `/app/{rest}`. */
export function consoleReply(rest: string): Response {
  const asset = COMING_ASSETS.find(({ path }) => path === `/app/${rest}`) ?? COMING_PAGE;
  return new Response(contentOf(asset), {
    headers: {
      'content-type': asset.contentType,
      'content-security-policy': COMING_CONTENT_SECURITY_POLICY,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-cache',
    },
  });
}

function contentOf({ path, file }: ConsoleFile): Buffer {
  const content = loaded.get(path) ?? readFileSync(file);
  loaded.set(path, content);
  return content;
}
