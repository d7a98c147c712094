/** Writes images in one piece as the events of a stream: some hosts ignore `stream`. */
import { asArray, asObject, parseObject } from '../../json.ts';
import type { RequestFacts } from '../../request/request-facts.ts';

/** The records, one for each image, the last with the usage of all; null: the body has no images. */
export function streamOfAnswer(body: Buffer, { below }: Pick<RequestFacts, 'below'>): Buffer | null {
  const { data, created: created_at, usage, svg_usage, ...facts } = parseObject(body.toString()) ?? {};
  const images = asArray(data);
  if (images.length === 0) return null;
  const type = below === '/edits' ? 'image_edit.completed' : 'image_generation.completed';
  const records = images.map((image, at) => {
    const counted = at === images.length - 1 ? { usage, svg_usage } : {};
    const event = { type, created_at, ...facts, ...asObject(image), ...counted };
    return `event: ${type}\ndata: ${JSON.stringify(event)}\n\n`;
  });
  return Buffer.from(records.join(''));
}
