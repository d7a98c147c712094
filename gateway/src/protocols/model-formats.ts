/** Chooses the formats of one model among those that its provider speaks: a model embeds texts or answers, not both. */
import { CLIENT_PROTOCOL_NAMES, type ClientProtocolName, PROTOCOLS, type UpstreamProtocolName } from './names.ts';

type Family = (typeof PROTOCOLS)[UpstreamProtocolName]['family'];

/** OpenAI's formats that are not translated, which its imitators speak at the same paths. */
export const OPENAI_DIRECT: readonly UpstreamProtocolName[] = ['embeddings'];

/** The path of each of OpenAI's formats, after the base address and a slash. */
export const OPENAI_PATHS: { readonly [protocol in UpstreamProtocolName]?: string } = {
  chat: 'chat/completions',
  responses: 'responses',
  embeddings: 'embeddings',
};

/** What models are for by their names, which vendors and hosts keep to (provider lists, 2026-11). Others generate. */
const BY_NAME: ReadonlyArray<readonly [Family, RegExp]> = [
  ['embeddings', /embed|minilm|mpnet|(?:^|[/:-])(?:bge|gte|e5|voyage)-/i],
];

/**
 * The formats in which requests for the model go out, of those that the provider speaks. `endpoints`: those that the
 * operator lists for the model; null: its name decides.
 */
export function formatsOfModel(
  spoken: readonly UpstreamProtocolName[],
  model: string,
  endpoints: readonly ClientProtocolName[] | null,
): readonly UpstreamProtocolName[] {
  const isListed = endpoints !== null && endpoints.length < CLIENT_PROTOCOL_NAMES.length;
  const families: readonly Family[] = isListed ? endpoints.map((name) => PROTOCOLS[name].family) : [familyOf(model)];
  const found = spoken.filter((name) => families.includes(PROTOCOLS[name].family));
  return found.length === 0 ? spoken : found;
}

function familyOf(model: string): Family {
  return BY_NAME.find(([, name]) => name.test(model))?.[0] ?? 'generation';
}
