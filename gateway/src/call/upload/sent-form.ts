/** Sends an upload as it was received, with another value of its `model` where the provider uses another name. */
import type { BodySource } from '../../upstream/body-source.ts';
import type { FormPart } from '../../wire/multipart/multipart-reader.ts';
import { formType } from '../../wire/multipart/part-head.ts';
import type { UploadBody } from './upload-body.ts';

/** A form, as far as it has arrived. */
export interface ReceivedForm {
  readonly body: UploadBody;
  readonly boundary: string;
  readonly parts: FormPart[];
}

/** A span of the body, or bytes in place of one. */
type Segment = { readonly start: number; readonly end: number } | { readonly bytes: Buffer };

/**
 * The body of a request with the form. `model`: the value of the part of this name, instead of the received one; null: the
 * form as it was received.
 */
export function sendForm({ body, boundary, parts }: ReceivedForm, model: string | null): BodySource {
  const part = parts.find(({ name }) => name === 'model');
  const segments: readonly Segment[] =
    part === undefined || model === null || part.text === model
      ? [{ start: 0, end: body.length }]
      : [{ start: 0, end: part.start }, { bytes: Buffer.from(model) }, { start: part.end, end: body.length }];
  let length = 0;
  for (const segment of segments) {
    length += 'bytes' in segment ? segment.bytes.length : segment.end - segment.start;
  }
  return { length, contentType: formType(boundary), open: () => new SegmentReader(body, segments) };
}

class SegmentReader {
  readonly #body: UploadBody;
  readonly #segments: readonly Segment[];
  #index = 0;
  #at = 0;
  #given: Buffer | null = null;

  constructor(body: UploadBody, segments: readonly Segment[]) {
    this.#body = body;
    this.#segments = segments;
  }

  async next(): Promise<Uint8Array | null> {
    if (this.#given !== null) this.#body.free(this.#given);
    this.#given = null;
    for (;;) {
      const segment = this.#segments[this.#index];
      if (segment === undefined) return null;
      if ('bytes' in segment) {
        this.#index += 1;
        return segment.bytes;
      }
      const from = Math.max(this.#at, segment.start);
      if (from < segment.end) {
        const bytes = await this.#body.read(from);
        this.#given = bytes;
        const taken = bytes.subarray(0, segment.end - from);
        this.#at = from + taken.length;
        return taken;
      }
      this.#index += 1;
    }
  }
}
