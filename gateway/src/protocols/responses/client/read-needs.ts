/** Reads what a Responses request needs of its target. */
import { elements, type JsonNode, member, stringValue } from '../../../wire/json-node.ts';
import { isGiven, type ReadNeeds, type RequestNeeds, typeOf } from '../../request/request-needs.ts';
import { firstRefusedMember } from './parse-request.ts';
import { isHosted } from './parse-tools.ts';

export const readNeeds: ReadNeeds = ({ root }, mediaParts) => {
  const tools = member(root, 'tools');
  const hosted = tools === undefined ? -1 : elements(tools).findIndex((tool) => isHosted(typeOf(tool)));
  const media = mediaParts === 0 ? NO_MEDIA : mediaOf(root);
  const effort = memberOf(root, 'reasoning', 'effort');
  const format = memberOf(root, 'text', 'format');
  return {
    tools: isGiven(root, 'tools'),
    ...media,
    serverTool: hosted === -1 ? null : `tools.${hosted}`,
    // An id of something stored is refused before.
    storedItem: null,
    ownFormat: firstRefusedMember(root),
    reasoning: effort !== undefined && stringValue(effort) !== undefined && stringValue(effort) !== 'none',
    // A request for them is refused by any other format.
    logprobs: false,
    schema: format !== undefined && typeOf(format) === 'json_schema',
  };
};

function memberOf(root: JsonNode, outer: string, inner: string): JsonNode | undefined {
  const holder = member(root, outer);
  return holder?.kind === 'object' ? member(holder, inner) : undefined;
}

type Media = Pick<RequestNeeds, 'image' | 'audio' | 'pdf'>;

const NO_MEDIA: Media = { image: false, audio: false, pdf: false };

function mediaOf(root: JsonNode): Media {
  const types = new Set<string | null>();
  const input = member(root, 'input');
  for (const item of input === undefined ? [] : elements(input)) {
    for (const name of ['content', 'output']) {
      const value = item.kind === 'object' ? member(item, name) : undefined;
      if (value?.kind === 'object') types.add(typeOf(value));
      else for (const part of value === undefined ? [] : elements(value)) types.add(typeOf(part));
    }
  }
  return {
    image: types.has('input_image') || types.has('computer_screenshot'),
    audio: types.has('input_audio'),
    pdf: types.has('input_file'),
  };
}
