/** Owns reading the JSON body of a console request, counted as it comes. */
import { ConsoleFailure } from './console-failure.ts';

/** The parsed body. Throws `not_json`, `too_large` or `invalid`. */
export async function readJsonBody(request: Request, bytesMax: number): Promise<unknown> {
  const type = request.headers.get('content-type') ?? '';
  if (!/^application\/json\s*(?:;|$)/i.test(type)) {
    throw new ConsoleFailure(
      'not_json',
      `found the content type ${JSON.stringify(type.slice(0, 100))}, expected application/json`,
    );
  }
  const text = await readText(request, bytesMax);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ConsoleFailure('invalid', 'the body is no valid JSON', { cause });
  }
}

async function readText(request: Request, bytesMax: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let byteCount = 0;
  for await (const chunk of request.body ?? []) {
    byteCount += chunk.length;
    if (byteCount > bytesMax) {
      throw new ConsoleFailure('too_large', `the body is larger than ${bytesMax} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
