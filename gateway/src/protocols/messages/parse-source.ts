/** Owns reading where an image's or a document's bytes are. Does not look at the bytes. Source: wire reference B.3. */
import type { Source } from '../../generation/part.ts';
import { elements, type JsonNode, member, stringValue } from '../../wire/json-node.ts';
import { refuse } from '../check-member.ts';
import { given, requiredObject, requiredText } from './member-values.ts';

/** The `source` of an image or document block at `path`. Throws for a type that is not one of the format's. */
export function parseSource(block: JsonNode, path: string, media: 'image' | 'document'): Source {
  const at = `${path}.source`;
  const source = requiredObject(block, 'source', path, 'an object {"type": …}');
  const type = requiredText(source, 'type', at);
  switch (type) {
    case 'base64':
      return {
        kind: 'base64',
        media_type: requiredText(source, 'media_type', at),
        base64: requiredText(source, 'data', at),
      };
    case 'url':
      return { kind: 'url', url: requiredText(source, 'url', at) };
    case 'file':
      return { kind: 'file', id: requiredText(source, 'file_id', at) };
  }
  if (media === 'document' && type === 'text') return { kind: 'text', text: requiredText(source, 'data', at) };
  if (media === 'document' && type === 'content') return { kind: 'text', text: parseContent(source, `${at}.content`) };
  const expected = media === 'image' ? '"base64", "url" or "file"' : '"base64", "text", "content", "url" or "file"';
  throw refuse(`${at}.type`, member(source, 'type') ?? null, expected);
}

/** A document given as a text or as blocks. Blocks that are not text cannot leave the format. */
function parseContent(source: JsonNode, path: string): string {
  const content = given(source, 'content');
  const whole = content === null ? undefined : stringValue(content);
  if (whole !== undefined) return whole;
  if (content?.kind !== 'array') throw refuse(path, content, 'a string or an array of text blocks');
  const texts = elements(content).map((block, index) => {
    const at = `${path}.${index}`;
    if (block.kind !== 'object') throw refuse(at, block, 'a text block (an object)');
    if (requiredText(block, 'type', at) !== 'text') {
      const why =
        'a block of type "text": other blocks of a document go to Anthropic only; send an image as a block of its own';
      throw refuse(`${at}.type`, member(block, 'type') ?? null, why);
    }
    return requiredText(block, 'text', at);
  });
  return texts.join('\n');
}
