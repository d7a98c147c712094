/** A name server over UDP for tests, which answers as it is told. */
import { createSocket } from 'node:dgram';
import { parseIpAddress } from '../../lib/ip-range.ts';

export interface NameServer {
  /** Its address and port. */
  readonly address: string;
  stop(): void;
}

const HEAD_BYTES = 12;
const TYPES = new Map([
  [1, 'A'],
  [28, 'AAAA'],
] as const);

/** The addresses of a name. `nth`: how often this was asked, with this time. Null: the server stays silent. */
export type AnswerName = (name: string, type: 'A' | 'AAAA', nth: number) => readonly string[] | null;

export async function startNameServer(answer: AnswerName): Promise<NameServer> {
  const socket = createSocket('udp4');
  const asked = new Map<string, number>();
  socket.on('message', (query, { address, port }) => {
    const { name, end } = readName(query);
    const type = TYPES.get(query.readUInt16BE(end) as 1 | 28);
    if (type === undefined) return;
    const nth = (asked.get(`${name} ${type}`) ?? 0) + 1;
    asked.set(`${name} ${type}`, nth);
    const addresses = answer(name, type, nth);
    if (addresses !== null) socket.send(render(query.subarray(0, end + 4), addresses), port, address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return { address: `127.0.0.1:${socket.address().port}`, stop: () => void socket.close() };
}

function readName(query: Buffer): { readonly name: string; readonly end: number } {
  const labels: string[] = [];
  let at = HEAD_BYTES;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), end: at + 1 };
}

function render(question: Buffer, addresses: readonly string[]): Buffer {
  const head = Buffer.from(question);
  // An answer with recursion; one question, these addresses, nothing else.
  head.writeUInt16BE(0x8180, 2);
  head.writeUInt16BE(addresses.length, 6);
  head.fill(0, 8, HEAD_BYTES);
  const type = question.subarray(-4);
  const records = addresses.map((text) => {
    const bytes = Buffer.from(parseIpAddress(text)?.toByteArray() ?? []);
    const value =
      type[1] === 28 && bytes.length === 4 ? Buffer.from([...Array(10).fill(0), 255, 255, ...bytes]) : bytes;
    // The name of the question, its type and class, no time to live.
    return Buffer.from([0xc0, HEAD_BYTES, ...type, 0, 0, 0, 0, 0, value.length, ...value]);
  });
  return Buffer.concat([head, ...records]);
}
