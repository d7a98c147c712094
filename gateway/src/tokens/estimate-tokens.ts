/**
 * Estimates the tokens of a request's prompt, of its media or of a text, for any model, without its vocabulary: weights
 * of the model's family times feature counts, biased high. Not used for billing if upstream reports a count.
 */
import type { DocumentPart, MediaPart, Part, Source } from '../generation/part.ts';
import type { GenerationRequest } from '../generation/request.ts';
import { countText, emptyTextCounts, type TextCounts } from './count-text.ts';
import { FRAMES, measureRequest } from './measure-request.ts';
import { TEXT_FEATURES } from './text-alphabet.ts';
import { TOKEN_RATIOS, type TokenFamily, type TokenRatios } from './token-families.ts';

/**
 * Tokens of the whole prompt, cached or not, including what the vendor adds around it. An integer ≥ 1. Never throws.
 * The ratios are in token-families.ts.
 */
export function estimatePromptTokens(request: GenerationRequest, family: TokenFamily): number {
  const ratios = TOKEN_RATIOS[family];
  const { text, frames } = measureRequest(request, ratios.tools);
  let tokens = textTokens(text, ratios);
  for (const [index, frame] of FRAMES.entries()) tokens += frames[frame] * (ratios.frames[index] ?? 0);
  for (const turn of request.turns) for (const part of turn.parts) tokens += mediaTokens(part, family);
  return Math.max(1, Math.ceil(tokens));
}

/** Tokens of a text on its own, as model output. An integer; 0 for the empty text. */
export function estimateTextTokens(text: string, family: TokenFamily): number {
  const counts = emptyTextCounts();
  countText(text, counts);
  return Math.ceil(textTokens(counts, TOKEN_RATIOS[family]));
}

function textTokens(counts: TextCounts, { text: weights }: TokenRatios): number {
  let tokens = 0;
  for (let feature = 0; feature < TEXT_FEATURES.length; feature += 1) {
    tokens += (counts[feature] as number) * (weights[feature] as number);
  }
  return tokens;
}

function mediaTokens(part: Part, family: TokenFamily): number {
  switch (part.kind) {
    case 'image':
    case 'audio':
      return estimateMediaTokens(part, family);
    case 'document':
      return part.source.kind === 'text' ? 0 : estimateDocumentTokens(part, family);
    case 'tool_result':
      return part.parts.reduce((tokens, inner) => tokens + mediaTokens(inner, family), 0);
    default:
      return 0;
  }
}

/** For an image given by link or file id. */
const USUAL_IMAGE: ImageSize = { width: 1024, height: 1024 };
/** A scanned page has more bytes, a page of text fewer. */
const DOCUMENT_PAGE_BYTES = 40_000;
/** For a document given by link or file id. */
const USUAL_DOCUMENT_PAGES = 3;
/** MP3 of 128 kbit/s at the highest rate found, 32 tokens per second (Gemini). */
const AUDIO_BYTES_PER_TOKEN = 500;
const USUAL_AUDIO_TOKENS = 1_000;
/** A page counts as its text plus its image. Recorded: Claude 1,600 to 2,700, Gemini 260 to 1,290, GPT 220 to 1,000. */
const PAGE_TOKENS: { readonly [family in TokenFamily]?: number } = { gpt: 1_000, gemini: 1_300 };
const PAGE_TOKENS_ELSEWHERE = 2_700;

/** Tokens of an image or audio in a prompt. */
export function estimateMediaTokens({ kind, source, detail }: MediaPart, family: TokenFamily): number {
  if (kind === 'audio') {
    return source.kind === 'base64' ? Math.ceil(bytesOf(source.base64) / AUDIO_BYTES_PER_TOKEN) : USUAL_AUDIO_TOKENS;
  }
  return imageTokens(sizeOf(source), detail, family);
}

/** Tokens of a non-text document, from its page count, which is estimated from its bytes. */
export function estimateDocumentTokens({ source }: DocumentPart, family: TokenFamily): number {
  const bytes = source.kind === 'base64' ? bytesOf(source.base64) : USUAL_DOCUMENT_PAGES * DOCUMENT_PAGE_BYTES;
  return Math.max(1, Math.ceil(bytes / DOCUMENT_PAGE_BYTES)) * (PAGE_TOKENS[family] ?? PAGE_TOKENS_ELSEWHERE);
}

function bytesOf(base64: string): number {
  return Math.ceil((base64.length * 3) / 4);
}

function sizeOf(source: Source): ImageSize {
  return (source.kind === 'base64' ? readImageSize(source.base64) : null) ?? USUAL_IMAGE;
}

function imageTokens(size: ImageSize, detail: string | null, family: TokenFamily): number {
  switch (family) {
    case 'claude_3':
    case 'claude':
      return areaTokens(size, 1_568, 1_600);
    case 'claude_5':
      return areaTokens(size, 2_576, 4_784);
    case 'gemini':
      // Recorded: Gemini 3 takes 1,088 to 1,102 for one image of any size, 2.5 took 258 for a small one.
      return 1_120;
    case 'llama':
      // Llama 4: tiles of 336 pixels, 144 tokens each, plus the whole image once. Recorded: 400×301 440, 597×566 745.
      return 145 * (tiles(size, 336, 16) + 1);
    case 'grok':
      return grokImageTokens(size);
    case 'mistral':
      return patchTokens(shrink(size, 1_540), 28);
    case 'qwen':
      return patchTokens(shrink(size, 3_584), 28);
    default:
      return gptImageTokens(size, detail);
  }
}

/** Anthropic: width × height ÷ 750, after shrinking. https://platform.claude.com/docs/en/build-with-claude/vision */
function areaTokens(size: ImageSize, edgeMax: number, tokensMax: number): number {
  const { width, height } = shrink(size, edgeMax);
  return Math.min(tokensMax, Math.ceil((width * height) / 750));
}

/**
 * OpenAI, tile-based models: 85, plus 170 per tile of 512 pixels. https://platform.openai.com/docs/guides/images-vision
 */
function gptImageTokens(size: ImageSize, detail: string | null): number {
  if (detail === 'low') return 85;
  const fitted = shrink(size, 2_048);
  const scale = Math.min(1, 768 / Math.min(fitted.width, fitted.height));
  return 85 + 170 * tiles({ width: fitted.width * scale, height: fitted.height * scale }, 512, Number.MAX_SAFE_INTEGER);
}

/** 256 per tile of 448 pixels, plus one tile for an image of several tiles. Recorded: 128×128 256. */
function grokImageTokens(size: ImageSize): number {
  const parts = tiles(size, 448, 6);
  return 256 * (parts === 1 ? 1 : parts + 1);
}

/** One token per square, plus one for the end of each row. */
function patchTokens({ width, height }: ImageSize, edge: number): number {
  return (Math.ceil(width / edge) + 1) * Math.ceil(height / edge);
}

function tiles({ width, height }: ImageSize, edge: number, most: number): number {
  return Math.min(most, Math.ceil(width / edge) * Math.ceil(height / edge));
}

function shrink({ width, height }: ImageSize, edgeMax: number): ImageSize {
  const scale = Math.min(1, edgeMax / Math.max(width, height));
  return { width: width * scale, height: height * scale };
}

interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/** In base64 characters; enough for the head of a JPEG after its thumbnail and color profile. */
const HEAD_CHARACTERS_MAX = 131_072;

/** The size in pixels from the header of a base64 image; null if the header has none or the format is unknown. */
export function readImageSize(base64: string): ImageSize | null {
  const head = Buffer.from(base64.slice(0, HEAD_CHARACTERS_MAX), 'base64');
  const size = readPng(head) ?? readGif(head) ?? readWebp(head) ?? readJpeg(head);
  return size !== null && size.width > 0 && size.height > 0 ? size : null;
}

function startsWith(bytes: Buffer, text: string, at: number): boolean {
  return bytes.length >= at + text.length && bytes.toString('latin1', at, at + text.length) === text;
}

/** PNG, third edition, 11.2.1: the first chunk is IHDR. */
function readPng(bytes: Buffer): ImageSize | null {
  if (!startsWith(bytes, '\u0089PNG', 0) || bytes.length < 24) return null;
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

/** GIF89a, 18: the logical screen. */
function readGif(bytes: Buffer): ImageSize | null {
  if (!startsWith(bytes, 'GIF8', 0) || bytes.length < 10) return null;
  return { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
}

/** RFC 9649, 2.5 to 2.7: simple lossy, simple lossless or extended file format. */
function readWebp(bytes: Buffer): ImageSize | null {
  if (!startsWith(bytes, 'RIFF', 0) || !startsWith(bytes, 'WEBP', 8) || bytes.length < 30) return null;
  if (startsWith(bytes, 'VP8 ', 12)) {
    return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
  }
  if (startsWith(bytes, 'VP8L', 12)) {
    const bits = bytes.readUInt32LE(21);
    return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
  }
  if (!startsWith(bytes, 'VP8X', 12)) return null;
  return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
}

/** ITU-T T.81, B.2.2: the first frame header among the segments. */
function readJpeg(bytes: Buffer): ImageSize | null {
  if (bytes[0] !== 0xff || bytes[1] !== 0xd8) return null;
  let at = 2;
  while (at + 9 <= bytes.length && bytes[at] === 0xff) {
    const marker = bytes[at + 1] as number;
    // C4, C8 and CC are within the range of frame headers but are not frame headers.
    if (marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc) {
      return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) };
    }
    at += marker === 0xff ? 1 : 2 + bytes.readUInt16BE(at + 2);
  }
  return null;
}
