/** Chooses the formats of one model among those that its provider speaks: a model embeds texts or answers, not both. */
import {
  CLIENT_PROTOCOL_NAMES,
  type ClientProtocolName,
  PROTOCOLS,
  type ProtocolFamily,
  type UpstreamProtocolName,
} from './names.ts';

/** OpenAI's formats that are not translated, which its imitators speak at the same paths. */
export const OPENAI_DIRECT: readonly UpstreamProtocolName[] = [
  'embeddings',
  'completions',
  'moderations',
  'images',
  'audio',
];

/** The path of each of OpenAI's formats, after the base address and a slash. */
export const OPENAI_PATHS: { readonly [protocol in UpstreamProtocolName]?: string } = {
  chat: 'chat/completions',
  responses: 'responses',
  embeddings: 'embeddings',
  completions: 'completions',
  moderations: 'moderations',
  rerank: 'rerank',
  images: 'images',
  audio: 'audio',
  voyage_rerank: 'rerank',
  voyage_embeddings: 'embeddings',
};

/** What models are for by their names, which vendors and hosts keep to (provider lists, 2026-11). Others generate. */
const BY_NAME: ReadonlyArray<readonly [ProtocolFamily, RegExp]> = [
  [
    'images',
    /(?:^|\/)(?:(?:chat)?gpt-image|dall-e|grok-imagine|flux|imagen|stable-diffusion|sdxl|sd3|seedream|qwen-image|recraft|ideogram)/i,
  ],
  ['moderations', /moderation/i],
  ['rerank', /rerank/i],
  ['completions', /^(?:gpt-3\.5-turbo-instruct|davinci|babbage)/],
  ['embeddings', /embed|minilm|mpnet|(?:^|[/:-])(?:bge|gte|e5|voyage)-/i],
  ['audio', /whisper|transcri|(?:^|[/:_-])tts(?:[-_:]|\d|$)|kokoro|orpheus|parakeet|canary/i],
];

/** How a host differs in the formats that are not translated. */
interface HostForms {
  /** Its own forms, in place of the formats of the same families. Absent: none. */
  readonly forms?: readonly UpstreamProtocolName[];
  /** Its generating models answer legacy completions too. Absent: they do not. */
  readonly completes?: boolean;
  /** Its generating models that also transcribe. Absent: none. */
  readonly transcribes?: RegExp;
}

/**
 * The formats in which requests for the model go out, of those that the provider speaks. `endpoints`: those that the
 * operator lists for the model; null or all of them: its name decides.
 */
export function formatsOfModel(
  spoken: readonly UpstreamProtocolName[],
  host: HostForms,
  model: string,
  endpoints: readonly ClientProtocolName[] | null,
): readonly UpstreamProtocolName[] {
  const { forms = [] } = host;
  const isListed = endpoints !== null && endpoints.length < CLIENT_PROTOCOL_NAMES.length;
  const families = isListed ? endpoints.map((name) => PROTOCOLS[name].family) : familiesOf(model, host);
  const known = forms.length === 0 ? spoken : withForms(spoken, forms);
  const found = known.filter((name) => families.includes(PROTOCOLS[name].family));
  return found.length === 0 ? known : found;
}

/** The formats with a host's own forms in place of those of the same families. */
function withForms(
  spoken: readonly UpstreamProtocolName[],
  forms: readonly UpstreamProtocolName[],
): readonly UpstreamProtocolName[] {
  const replaced = forms.map((name) => PROTOCOLS[name].family);
  return [...spoken.filter((name) => !replaced.includes(PROTOCOLS[name].family)), ...forms];
}

function familiesOf(model: string, { completes = false, transcribes }: HostForms): readonly ProtocolFamily[] {
  const named = BY_NAME.find(([, name]) => name.test(model))?.[0];
  if (named !== undefined) return [named];
  const isHeard = transcribes?.test(model) === true;
  return ['generation', ...(completes ? ['completions' as const] : []), ...(isHeard ? ['audio' as const] : [])];
}
