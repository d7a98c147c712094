/**
 * Reads the duration of an audio file from its headers: WAV, FLAC, MP3, Ogg, MP4 and WebM. The file is the caller's, so
 * nothing in it is trusted: a header that makes no sense is ignored.
 */
import { AudioBytes, type SeekableBytes } from './audio-bytes.ts';
import { secondsOfMp4, secondsOfWebm } from './audio-containers.ts';
import { secondsOfFlac, secondsOfMp3, secondsOfOgg, secondsOfWav } from './audio-streams.ts';

const MAGIC_BYTES = 12;
/** No file of the largest upload lasts longer: 1 kB a second, three days. */
const SECONDS_MAX = 300_000;

/** The seconds of the file `[start, end)`; null: its format is unknown, or its headers do not tell. */
export async function readAudioSeconds(source: SeekableBytes, start: number, end: number): Promise<number | null> {
  const file = new AudioBytes(source, start, end);
  const reader = chooseReader(await file.at(0, MAGIC_BYTES));
  const seconds = reader === null ? null : await reader(file);
  return seconds !== null && seconds > 0 && seconds <= SECONDS_MAX ? seconds : null;
}

function chooseReader(magic: Buffer): ((file: AudioBytes) => Promise<number | null>) | null {
  const text = magic.toString('latin1');
  if (/^(?:RIFF|RF64)....WAVE/s.test(text)) return secondsOfWav;
  if (text.startsWith('fLaC')) return secondsOfFlac;
  if (text.startsWith('OggS')) return secondsOfOgg;
  if (text.startsWith('ftyp', 4)) return secondsOfMp4;
  if (text.startsWith('\x1a\x45\xdf\xa3')) return secondsOfWebm;
  const isFrame = magic[0] === 0xff && ((magic[1] ?? 0) & 0xe0) === 0xe0;
  return isFrame || text.startsWith('ID3') ? secondsOfMp3 : null;
}
