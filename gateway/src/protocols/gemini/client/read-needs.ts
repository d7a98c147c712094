/** Reads what a Gemini request needs of its target. */
import { children, type JsonNode, numberValue, stringValue } from '../../../wire/json-node.ts';
import type { ReadNeeds, RequestNeeds } from '../../request/request-needs.ts';
import { given, listOf, nameOf } from './members.ts';
import { firstRefusedMember } from './parse-request.ts';

export const readNeeds: ReadNeeds = ({ root }, mediaParts) => {
  const tools = given(root, 'tools');
  const kinds = (tools === undefined ? [] : listOf(tools)).flatMap((tool, index) =>
    children(tool).map((kind) => [`tools.${index}.${nameOf(kind)}`, nameOf(kind)] as const),
  );
  const hosted = kinds.find(([, kind]) => kind !== 'functionDeclarations')?.[0] ?? null;
  const config = given(root, 'generationConfig');
  const thinking = config === undefined ? undefined : given(config, 'thinkingConfig');
  const budget = thinking === undefined ? undefined : given(thinking, 'thinkingBudget');
  return {
    tools: kinds.length > 0,
    ...(mediaParts === 0 ? NO_MEDIA : mediaOf(root)),
    serverTool: hosted,
    // The name of something stored is refused before.
    storedItem: null,
    ownFormat: firstRefusedMember(root) ?? hosted,
    reasoning: thinking !== undefined && (budget === undefined || numberValue(budget) !== 0),
    logprobs: config !== undefined && given(config, 'responseLogprobs')?.kind === 'true',
    schema: config !== undefined && SCHEMAS.some((name) => given(config, name) !== undefined),
  };
};

const SCHEMAS = ['responseSchema', 'responseJsonSchema', '_responseJsonSchema'] as const;

type Media = Pick<RequestNeeds, 'image' | 'audio' | 'pdf'>;

const NO_MEDIA: Media = { image: false, audio: false, pdf: false };

function mediaOf(root: JsonNode): Media {
  const types = new Set<string>();
  const contents = given(root, 'contents');
  for (const content of contents === undefined ? [] : listOf(contents)) {
    const parts = given(content, 'parts');
    if (parts !== undefined) addTypes(parts, types);
  }
  const has = (start: string) => [...types].some((type) => type.startsWith(start));
  return { image: has('image/'), audio: has('audio/'), pdf: has('application/pdf') };
}

function addTypes(parts: JsonNode, types: Set<string>): void {
  for (const part of listOf(parts)) {
    const medium = given(part, 'inlineData') ?? given(part, 'fileData');
    const type = medium === undefined ? undefined : given(medium, 'mimeType');
    if (type !== undefined) types.add(stringValue(type) ?? '');
    const result = given(part, 'functionResponse');
    const inside = result === undefined ? undefined : given(result, 'parts');
    if (inside !== undefined) addTypes(inside, types);
  }
}
