/** Reads the duration of files that are one stream: WAV, FLAC, MP3, Ogg. */
import type { AudioBytes } from './audio-bytes.ts';

const CHUNKS_MAX = 64;
/** A writer that did not know the size (RIFF, RF64). */
const UNKNOWN_SIZE = 0xffff_ffff;
/** Formats whose samples have a fixed size: PCM, floats, A-law, µ-law, and the extensible form of them. */
const SAMPLED: ReadonlySet<number> = new Set([1, 3, 6, 7, 0xfffe]);

/**
 * The bytes of the samples by those of a second; decoders read on after the first `data`, and so does this. Source:
 * Microsoft's RIFF WAVE, EBU Tech 3306 (RF64).
 */
export async function secondsOfWav(file: AudioBytes): Promise<number | null> {
  let bytesPerSecond = 0;
  let soundBytes = 0;
  for (let at = 12, chunks = 0; ; chunks++) {
    const head = await file.at(at, 24);
    if (head.length < 8) break;
    const name = head.toString('latin1', 0, 4);
    const size = head.readUInt32LE(4);
    const rest = file.length - at - 8;
    const isLast = chunks === CHUNKS_MAX || (name === 'data' && (size === UNKNOWN_SIZE || size === 0));
    if (isLast || name === 'data') soundBytes += isLast ? rest : Math.min(size, rest);
    if (isLast) break;
    if (name === 'fmt ' && head.length === 24) bytesPerSecond = bytesPerSecondOf(head);
    at += 8 + size + (size % 2);
  }
  return bytesPerSecond === 0 || soundBytes === 0 ? null : soundBytes / bytesPerSecond;
}

/** Only compressed formats need the rate that the header states: the size of their blocks says nothing of time. */
function bytesPerSecondOf(head: Buffer): number {
  const bits = head.readUInt16LE(22);
  if (!SAMPLED.has(head.readUInt16LE(8)) || bits === 0) return head.readUInt32LE(16);
  return head.readUInt32LE(12) * head.readUInt16LE(10) * Math.ceil(bits / 8);
}

/** From STREAMINFO, which is always the first block (RFC 9639, section 8.2). */
export async function secondsOfFlac(file: AudioBytes): Promise<number | null> {
  const head = await file.at(0, 26);
  if (head.length < 26) return null;
  const rate = head.readUIntBE(18, 3) >> 4;
  const samples = ((head[21] ?? 0) & 0x0f) * 2 ** 32 + head.readUInt32BE(22);
  return rate === 0 || samples === 0 ? null : samples / rate;
}

const ID3_BYTES = 10;
const ID3V1_BYTES = 128;
const SEEK_BYTES = 8 * 1024;
/** Kbit/s by the index in a frame's head: MPEG 1 layer III, then MPEG 2 and 2.5 layer III. */
const RATES_1 = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
const RATES_2 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];
const SAMPLE_RATES = [44_100, 48_000, 32_000];
const BITS_PER_SECOND_MAX = 320_000;

export interface Mp3Frame {
  readonly bitsPerSecond: number;
  readonly sampleRate: number;
  readonly samples: number;
  /** Its own length, at least 24. */
  readonly bytes: number;
  /** Bytes from the frame's begin to a Xing head. */
  readonly xingAt: number;
}

/** Layer III only; null: not the head of a frame. */
export function parseMp3Frame(bytes: Uint8Array, at: number): Mp3Frame | null {
  if (bytes.length < at + 4 || bytes[at] !== 0xff) return null;
  const second = bytes[at + 1] ?? 0;
  const third = bytes[at + 2] ?? 0;
  const fourth = bytes[at + 3] ?? 0;
  const version = (second >> 3) & 3;
  if ((second & 0xe0) !== 0xe0 || version === 1 || ((second >> 1) & 3) !== 1) return null;
  const isFirst = version === 3;
  const kilobits = (isFirst ? RATES_1 : RATES_2)[third >> 4];
  const rate = SAMPLE_RATES[(third >> 2) & 3];
  if (kilobits === undefined || kilobits === 0 || rate === undefined) return null;
  const isMono = fourth >> 6 === 3;
  const bitsPerSecond = kilobits * 1000;
  const sampleRate = isFirst ? rate : version === 2 ? rate / 2 : rate / 4;
  const samples = isFirst ? 1152 : 576;
  return {
    bitsPerSecond,
    sampleRate,
    samples,
    bytes: Math.floor((samples * bitsPerSecond) / (8 * sampleRate)) + ((third >> 1) & 1),
    xingAt: 4 + (isFirst ? (isMono ? 17 : 32) : isMono ? 9 : 17),
  };
}

/**
 * The number of frames where the first one tells it, but not less than the bytes take at the highest bit rate; otherwise the
 * bit rate of the first frame is that of all.
 */
export async function secondsOfMp3(file: AudioBytes): Promise<number | null> {
  const tag = await file.at(0, ID3_BYTES);
  const from = tag.toString('latin1', 0, 3) === 'ID3' && tag.length === ID3_BYTES ? ID3_BYTES + synchsafe(tag) : 0;
  const bytes = await file.at(from, SEEK_BYTES);
  for (let at = bytes.indexOf(0xff); at !== -1; at = bytes.indexOf(0xff, at + 1)) {
    const frame = parseMp3Frame(bytes, at);
    if (frame === null) continue;
    const last = await file.at(file.length - ID3V1_BYTES, 3);
    const end = last.toString('latin1') === 'TAG' ? file.length - ID3V1_BYTES : file.length;
    const bits = (end - from - at) * 8;
    const frames = countedFrames(bytes, at, frame);
    if (frames === null) return bits / frame.bitsPerSecond;
    return Math.max((frames * frame.samples) / frame.sampleRate, bits / BITS_PER_SECOND_MAX);
  }
  return null;
}

function synchsafe(tag: Buffer): number {
  return [6, 7, 8, 9].reduce((size, at) => size * 128 + ((tag[at] ?? 0) & 0x7f), 0);
}

/** From a Xing, Info or VBRI head; null: none. */
function countedFrames(bytes: Buffer, at: number, { xingAt }: Mp3Frame): number | null {
  const xing = at + xingAt;
  const name = bytes.toString('latin1', xing, xing + 4);
  if ((name === 'Xing' || name === 'Info') && bytes.length >= xing + 12) {
    return ((bytes[xing + 7] ?? 0) & 1) === 1 ? bytes.readUInt32BE(xing + 8) : null;
  }
  const vbri = at + 36;
  const isVbri = bytes.toString('latin1', vbri, vbri + 4) === 'VBRI' && bytes.length >= vbri + 18;
  return isVbri ? bytes.readUInt32BE(vbri + 14) : null;
}

/** A page has at most this many bytes (RFC 3533, section 6). */
const OGG_PAGE_BYTES_MAX = 65_307;
const OGG_PAGE = Buffer.from('OggS\0', 'latin1');
const OPUS_RATE = 48_000;

/** The position of the last page of the first stream, by its sample rate; Opus always counts at 48 kHz (RFC 7845). */
export async function secondsOfOgg(file: AudioBytes): Promise<number | null> {
  const first = await file.at(0, 256);
  if (first.length < 28) return null;
  const serial = first.readUInt32LE(14);
  const packet = first.subarray(27 + (first[26] ?? 0));
  const rate = oggRate(packet);
  if (rate === null) return null;
  const tail = await file.at(Math.max(0, file.length - 2 * OGG_PAGE_BYTES_MAX), 2 * OGG_PAGE_BYTES_MAX);
  for (let at = tail.lastIndexOf(OGG_PAGE); at !== -1; at = at === 0 ? -1 : tail.lastIndexOf(OGG_PAGE, at - 1)) {
    if (tail.length < at + 18 || tail.readUInt32LE(at + 14) !== serial) continue;
    const position = tail.readBigInt64LE(at + 6);
    if (position > 0n) return Math.max(0, Number(position) - rate.skipped) / rate.samples;
  }
  return null;
}

function oggRate(packet: Buffer): { readonly samples: number; readonly skipped: number } | null {
  const name = packet.toString('latin1', 0, 8);
  if (name === 'OpusHead' && packet.length >= 12) return { samples: OPUS_RATE, skipped: packet.readUInt16LE(10) };
  if (!name.startsWith('\x01vorbis') || packet.length < 16) return null;
  const samples = packet.readUInt32LE(12);
  return samples === 0 ? null : { samples, skipped: 0 };
}
