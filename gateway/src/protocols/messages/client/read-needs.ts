/** Reads what a messages request needs of its target. */
import { elements, type JsonNode, member } from '../../../wire/json-node.ts';
import { isGiven, type ReadNeeds, type RequestNeeds, typeOf } from '../../request/request-needs.ts';
import { REQUEST_MEMBERS } from './parse-request.ts';

const OWN_MEMBERS = REQUEST_MEMBERS.flatMap(({ member, fate }) => (fate === 'refused' ? [member] : []));

/** Members with which the provider's host runs something of its own. */
const SERVER_MEMBERS = ['mcp_servers', 'container'] as const;

/** Anthropic's typed tools that the client runs; the others run on Anthropic's host. */
const CLIENT_RUN = ['bash_', 'text_editor_', 'computer_', 'memory_'] as const;

export const readNeeds: ReadNeeds = ({ root }, mediaParts) => {
  const tools = toolsOf(root);
  const typed = tools.find(({ type }) => type !== null && type !== 'custom');
  const serverTool = tools.find(({ type }) => type !== null && type !== 'custom' && !isClientRun(type));
  const media = mediaParts === 0 ? NO_MEDIA : mediaOf(root);
  const thinking = member(root, 'thinking');
  const config = member(root, 'output_config');
  return {
    tools: tools.length > 0,
    image: media.image,
    audio: false,
    pdf: media.pdf,
    serverTool: SERVER_MEMBERS.find((name) => isGiven(root, name)) ?? serverTool?.path ?? null,
    storedItem: isGiven(root, 'container') ? 'container' : media.storedItem,
    logprobs: false,
    ownFormat: OWN_MEMBERS.find((name) => isGiven(root, name)) ?? typed?.path ?? null,
    reasoning: thinking !== undefined && typeOf(thinking) !== 'disabled' && thinking.kind === 'object',
    schema: isGiven(root, 'output_format') || (config?.kind === 'object' && isGiven(config, 'format')),
  };
};

interface FoundTool {
  readonly path: string;
  readonly type: string | null;
}

function toolsOf(root: JsonNode): readonly FoundTool[] {
  const tools = member(root, 'tools');
  return tools === undefined
    ? []
    : elements(tools).map((tool, index) => ({ path: `tools.${index}`, type: typeOf(tool) }));
}

function isClientRun(type: string): boolean {
  return CLIENT_RUN.some((start) => type.startsWith(start));
}

type Media = Pick<RequestNeeds, 'image' | 'pdf' | 'storedItem'>;

const NO_MEDIA: Media = { image: false, pdf: false, storedItem: null };

function mediaOf(root: JsonNode): Media {
  const media: { -readonly [need in keyof Media]: Media[need] } = { ...NO_MEDIA };
  const messages = member(root, 'messages');
  for (const [index, message] of messages === undefined ? [] : elements(messages).entries()) {
    for (const block of blocksOf(message)) {
      const inner = typeOf(block) === 'tool_result' ? blocksOf(block) : [block];
      for (const one of inner) noteMedia(one, `messages.${index}.content`, media);
    }
  }
  return media;
}

function blocksOf(node: JsonNode): readonly JsonNode[] {
  const content = node.kind === 'object' ? member(node, 'content') : undefined;
  return content === undefined ? [] : elements(content);
}

function noteMedia(block: JsonNode, path: string, media: { -readonly [need in keyof Media]: Media[need] }): void {
  const type = typeOf(block);
  if (type === 'image') media.image = true;
  else if (type !== 'document') return;
  const source = member(block, 'source');
  const kind = source === undefined ? null : typeOf(source);
  // A document given as text needs no target that reads files.
  if (type === 'document' && kind !== 'text' && kind !== 'content') media.pdf = true;
  if (kind === 'file') media.storedItem ??= path;
}
