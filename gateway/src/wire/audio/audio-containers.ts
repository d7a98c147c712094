/** Reads the duration of files that are trees of boxes: MP4 (ISO 14496-12) and WebM (RFC 9559). */
import type { AudioBytes } from './audio-bytes.ts';

const BOXES_MAX = 1000;

/** From `moov.mvhd`, wherever `moov` is. A fragmented file tells no duration there. */
export async function secondsOfMp4(file: AudioBytes): Promise<number | null> {
  const moov = await findBox(file, 'moov', 0, file.length);
  const mvhd = moov === null ? null : await findBox(file, 'mvhd', moov.start, moov.end);
  if (mvhd === null) return null;
  const head = await file.at(mvhd.start, 32);
  const isLong = head[0] === 1;
  if (head.length < (isLong ? 32 : 20)) return null;
  const scale = head.readUInt32BE(isLong ? 20 : 12);
  const duration = isLong ? Number(head.readBigUInt64BE(24)) : head.readUInt32BE(16);
  return scale === 0 || duration === 0 || duration === 0xffff_ffff ? null : duration / scale;
}

async function findBox(file: AudioBytes, name: string, from: number, end: number) {
  for (let at = from, boxes = 0; at < end && boxes < BOXES_MAX; boxes++) {
    const head = await file.at(at, 16);
    if (head.length < 8) return null;
    const short = head.readUInt32BE(0);
    const isLong = short === 1 && head.length === 16;
    const size = isLong ? Number(head.readBigUInt64BE(8)) : short === 0 ? end - at : short;
    const headBytes = isLong ? 16 : 8;
    if (size < headBytes) return null;
    if (head.toString('latin1', 4, 8) === name) return { start: at + headBytes, end: Math.min(end, at + size) };
    at += size;
  }
  return null;
}

const SEGMENT = 0x18538067;
const INFO = 0x1549a966;
const TIMESTAMP_SCALE = 0x2ad7b1;
const DURATION = 0x4489;
const CLUSTER = 0x1f43b675;
const NANOSECONDS = 1e9;
const SCALE_DEFAULT = 1_000_000;
/** A longer element is not a number: it could be the whole file. */
const FLOAT_BYTES_MAX = 8;

interface Element {
  readonly id: number;
  readonly start: number;
  readonly end: number;
}

/** From the segment's Info. A browser's recording has no duration there. */
export async function secondsOfWebm(file: AudioBytes): Promise<number | null> {
  const segment = await findElement(file, SEGMENT, 0, file.length);
  const info = segment === null ? null : await findElement(file, INFO, segment.start, segment.end);
  if (info === null) return null;
  const scale = await findElement(file, TIMESTAMP_SCALE, info.start, info.end);
  const duration = await findElement(file, DURATION, info.start, info.end);
  if (duration === null || duration.end - duration.start > FLOAT_BYTES_MAX) return null;
  const bytes = await file.at(duration.start, duration.end - duration.start);
  const ticks = bytes.length === 4 ? bytes.readFloatBE(0) : bytes.length === 8 ? bytes.readDoubleBE(0) : Number.NaN;
  const seconds = (ticks * (scale === null ? SCALE_DEFAULT : await readUnsigned(file, scale))) / NANOSECONDS;
  return Number.isFinite(seconds) ? seconds : null;
}

async function readUnsigned(file: AudioBytes, { start, end }: Element): Promise<number> {
  const bytes = await file.at(start, Math.min(6, end - start));
  return bytes.length === 0 ? 0 : bytes.readUIntBE(0, bytes.length);
}

/** Not beyond the first cluster: what describes the segment precedes its media. */
async function findElement(file: AudioBytes, id: number, from: number, end: number): Promise<Element | null> {
  for (let at = from, elements = 0; at < end && elements < BOXES_MAX; elements++) {
    const element = await readElement(file, at, end);
    if (element === null || (element.id === CLUSTER && id !== CLUSTER)) return null;
    if (element.id === id) return element;
    at = element.end;
  }
  return null;
}

async function readElement(file: AudioBytes, at: number, end: number): Promise<Element | null> {
  const head = await file.at(at, 12);
  const idBytes = lengthOf(head[0]);
  const sizeBytes = lengthOf(head[idBytes]);
  if (idBytes > 4 || sizeBytes > 8 || head.length < idBytes + sizeBytes) return null;
  let size = (head[idBytes] ?? 0) & (0xff >> sizeBytes);
  let isUnknown = size === 0xff >> sizeBytes;
  for (let index = 1; index < sizeBytes; index++) {
    const byte = head[idBytes + index] ?? 0;
    size = size * 256 + byte;
    isUnknown &&= byte === 0xff;
  }
  const start = at + idBytes + sizeBytes;
  return { id: head.readUIntBE(0, idBytes), start, end: isUnknown ? end : Math.min(end, start + size) };
}

/** Bytes of a number of variable size, by its first byte; 9: not one. */
function lengthOf(first: number | undefined): number {
  return first === undefined || first === 0 ? 9 : Math.clz32(first) - 23;
}
