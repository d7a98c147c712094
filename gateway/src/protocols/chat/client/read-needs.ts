/** Reads what a chat-completions request needs of its target. */
import { elements, type JsonNode, member, stringValue } from '../../../wire/json-node.ts';
import { isGiven, type ReadNeeds, type RequestNeeds, typeOf } from '../../request/request-needs.ts';
import { firstRefusedMember } from './parse-request.ts';

export const readNeeds: ReadNeeds = ({ root }, mediaParts) => {
  const tools = member(root, 'tools');
  const typed = tools === undefined ? -1 : elements(tools).findIndex(isVendorTool);
  const media = mediaParts === 0 ? NO_MEDIA : mediaOf(root);
  const format = member(root, 'response_format');
  return {
    tools: isGiven(root, 'tools') || isGiven(root, 'functions'),
    image: media.image,
    audio: media.audio,
    pdf: media.pdf,
    serverTool: isGiven(root, 'web_search_options') ? 'web_search_options' : null,
    storedItem: media.storedItem,
    logprobs: isGiven(root, 'logprobs') && member(root, 'logprobs')?.kind !== 'false',
    ownFormat: firstRefusedMember(root) ?? (typed === -1 ? null : `tools.${typed}`),
    reasoning: isReasoning(root),
    schema: format !== undefined && typeOf(format) === 'json_schema',
  };
};

/** Not a function and no free-text tool: a tool of the provider's own. */
function isVendorTool(tool: JsonNode): boolean {
  const type = typeOf(tool);
  return type !== null && type !== 'function' && type !== 'custom';
}

function isReasoning(root: JsonNode): boolean {
  const effort = member(root, 'reasoning_effort');
  if (effort !== undefined && effort.kind === 'string') return stringValue(effort) !== 'none';
  if (isGiven(root, 'reasoning')) return true;
  const thinking = member(root, 'thinking');
  return thinking?.kind === 'object' && typeOf(thinking) !== 'disabled';
}

type Media = Pick<RequestNeeds, 'image' | 'audio' | 'pdf' | 'storedItem'>;

const NO_MEDIA: Media = { image: false, audio: false, pdf: false, storedItem: null };

function mediaOf(root: JsonNode): Media {
  const media: { -readonly [need in keyof Media]: Media[need] } = { ...NO_MEDIA };
  const messages = member(root, 'messages');
  for (const [index, message] of messages === undefined ? [] : elements(messages).entries()) {
    const content = message.kind === 'object' ? member(message, 'content') : undefined;
    for (const part of content === undefined ? [] : elements(content)) {
      const type = typeOf(part);
      if (type === 'image_url') media.image = true;
      else if (type === 'input_audio') media.audio = true;
      else if (type === 'file') {
        media.pdf = true;
        const file = member(part, 'file');
        if (file !== undefined && isGiven(file, 'file_id')) media.storedItem ??= `messages.${index}.content`;
      }
    }
  }
  return media;
}
