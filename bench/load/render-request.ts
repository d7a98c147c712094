/** Renders the bytes of the bench's requests. */

/** A complete POST with a JSON body that can be sent repeatedly. Header values must not contain line breaks. */
export function renderRequest(
  path: string,
  port: number,
  headers: Readonly<Record<string, string>>,
  body: string,
): Buffer {
  const lines = Object.entries({
    host: `127.0.0.1:${port}`,
    accept: 'application/json',
    'user-agent': 'tollgate-bench',
    'content-type': 'application/json',
    ...headers,
    'content-length': String(Buffer.byteLength(body)),
  }).map(([name, value]) => {
    if (/[\r\n]/.test(value)) throw new Error(`header ${name}: found a line break, expected one line`);
    return `${name}: ${value}\r\n`;
  });
  return Buffer.from(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
}
