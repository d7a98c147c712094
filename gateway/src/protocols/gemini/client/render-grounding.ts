/**
 * Renders citations as the grounding of an answer: the pages, and which UTF-8 bytes of its text each supports.
 * https://ai.google.dev/gemini-api/docs/google-search, read 2026-11-23.
 */
import type { Citation } from '../../../generation/part.ts';
import type { WritableJson } from '../../../wire/json-writer.ts';

type UrlCitation = Extract<Citation, { kind: 'url' }>;

/** Collects the citations of an answer, text part by text part. */
export class Grounding {
  readonly #pages = new Map<string, { readonly index: number; readonly title: string | null }>();
  readonly #supports: WritableJson[] = [];
  /** UTF-8 bytes of the text parts that have ended. */
  #bytesBefore = 0;
  #waiting: UrlCitation[] = [];

  /** A source of the open text part; those that only their own format knows are left out. */
  cite(citation: Citation): void {
    if (citation.kind === 'url') this.#waiting.push(citation);
  }

  /** The open text part ended. */
  endText(text: string): void {
    for (const { url, title, start, end } of this.#waiting) {
      const page = this.#pages.get(url) ?? { index: this.#pages.size, title };
      this.#pages.set(url, page);
      const [from, to] = [start ?? 0, end ?? text.length];
      const startIndex = this.#bytesBefore + Buffer.byteLength(text.slice(0, from));
      const words = text.slice(from, to);
      const segment = { startIndex, endIndex: startIndex + Buffer.byteLength(words), text: words };
      this.#supports.push({ segment, groundingChunkIndices: [page.index] });
    }
    this.#waiting = [];
    this.#bytesBefore += Buffer.byteLength(text);
  }

  /** Undefined: nothing was cited. */
  render(): WritableJson | undefined {
    if (this.#pages.size === 0) return undefined;
    const groundingChunks = [...this.#pages].map(([uri, { title }]) => ({ web: { uri, title: title ?? undefined } }));
    return { groundingChunks, groundingSupports: this.#supports };
  }
}
