/** Reads the blocks of a message as a client of the format does, from a whole answer or from the events of a stream. */
import { type Json, list, object } from './wire-text.ts';

export function blocksOf(text: string): Json[] {
  if (text.startsWith('{')) return list(JSON.parse(text).content).map((block) => object(block) ?? {});
  const blocks: Record<string, unknown>[] = [];
  for (const line of text.split('\n')) {
    if (!line.startsWith('data: {')) continue;
    const event = JSON.parse(line.slice('data: '.length)) as Json;
    const index = Number(event.index);
    if (event.type === 'content_block_start') blocks[index] = { ...object(event.content_block), json: '' };
    if (event.type !== 'content_block_delta') continue;
    const block = blocks[index] ?? {};
    const delta = object(event.delta) ?? {};
    if (delta.type === 'text_delta') block.text = `${block.text ?? ''}${delta.text}`;
    if (delta.type === 'thinking_delta') block.thinking = `${block.thinking ?? ''}${delta.thinking}`;
    if (delta.type === 'signature_delta') block.signature = delta.signature;
    if (delta.type === 'input_json_delta') block.json = `${block.json}${delta.partial_json}`;
  }
  return blocks.map(({ json, ...block }) =>
    block.type === 'tool_use' ? { ...block, input: JSON.parse(`${json}`) } : block,
  );
}
