/**
 * Renders a canonical request for Bedrock's Converse, including its sampling options and limits, and lists how each
 * feature is handled; tools, conversation and reasoning have their own files. Source: provider reference C.3.
 */
import { createHash } from 'node:crypto';
import type { GenerationRequest } from '../../../generation/request.ts';
import { type WritableJson, writeJson } from '../../../wire/json-writer.ts';
import { capOutput, dropVerbosity, isVisible, splitStop } from '../../request/answer-limits.ts';
import { renderSampling, SAMPLING_FATES } from '../../request/anthropic-sampling.ts';
import { ArgumentAliases } from '../../request/argument-aliases.ts';
import { renderSchema } from '../../request/fit-schema.ts';
import { chooseOutputForm, type OutputForm } from '../../request/output-form.ts';
import { type FeatureFates, refuseMember, type TranslationNotes } from '../../request/translation-notes.ts';
import type { RenderedRequest } from '../../upstream-protocol.ts';
import type { ConverseTraits, UpstreamTraits } from '../../upstream-traits.ts';
import { vendorTraits } from '../shared/vendors.ts';
import { renderConversation } from './render-conversation.ts';
import type { Block, PartContext } from './render-part.ts';
import { renderReasoning } from './render-reasoning.ts';
import { renderTools } from './render-tools.ts';

/** The output limit beside a budget of thinking, if neither the client nor the model's data has one. */
const OUTPUT_TOKENS_FALLBACK = 8192;

/**
 * Throws CallFailure `invalid_request` for content that cannot be carried; advisory options are dropped into `notes`. The
 * model and the choice between plain and streamed are in the address.
 */
export function renderRequest(
  request: GenerationRequest,
  traits: UpstreamTraits,
  notes: TranslationNotes,
): RenderedRequest {
  const vendor = vendorTraits(traits.model);
  const restored = new Map<string, string>();
  const argumentAliases = new ArgumentAliases();
  const context = { traits, vendor, notes, restored, argumentAliases, documents: new Set<string>() };
  const structured_output = traits.takes.structured_output ?? vendor.schemas;
  const form = chooseOutputForm(request, { ...traits, takes: { ...traits.takes, structured_output } }, notes.strict);
  const { tools, choice, fields: chosen, isForced, custom } = renderTools(request, form, context);
  const { system, messages, lacksThinking } = renderConversation(request, context);
  if (form.instruction !== null) system.push({ text: form.instruction });
  limitCachePoints([tools, system, ...messages.map(({ content }) => content)], context);
  const limit = renderOutputLimit(request, traits, notes);
  const outputTokensMax = limit ?? traits.outputTokensMax ?? OUTPUT_TOKENS_FALLBACK;
  const reasoning = renderReasoning(request, { outputTokensMax, lacksThinking, forcedTool: isForced }, context);
  const takesStop = !vendor.refuses.has('stopSequences');
  const { sent, searched } = splitStop(request, (text) => takesStop && isVisible(text));
  const sampling = fitSampling(request, reasoning.thinks, context);
  const fields = { ...reasoning.fields, ...sampling.fields, ...chosen };
  dropOthers(request, notes);
  const body: WritableJson = {
    system: system.length === 0 ? undefined : system,
    messages: messages.map(({ role, content }) => ({ role, content })),
    inferenceConfig: unlessEmpty({
      maxTokens: limit ?? (reasoning.fields.thinking === undefined ? undefined : outputTokensMax),
      temperature: sampling.temperature,
      topP: sampling.topP,
      stopSequences: sent,
    }),
    toolConfig: tools.length === 0 ? undefined : { tools, toolChoice: choice ?? undefined },
    additionalModelRequestFields: unlessEmpty(fields),
    additionalModelResponseFieldPaths: sent === undefined ? undefined : pathsOf(request, context),
    outputConfig: renderOutputConfig(request, form, notes),
    requestMetadata: request.end_user === null ? undefined : { end_user: labelOf(request.end_user, request) },
    ...renderSettings(traits.converse, request.stream),
  };
  return {
    json: writeJson(body),
    tools: { restored, custom, ownArguments: argumentAliases.own },
    outputTool: form.tool?.name ?? null,
    extractsJson: form.extractsJson,
    stopTexts: searched,
  };
}

function unlessEmpty(members: { readonly [member: string]: WritableJson | undefined }): WritableJson | undefined {
  return Object.values(members).some((value) => value !== undefined) ? members : undefined;
}

function renderOutputLimit(request: GenerationRequest, traits: UpstreamTraits, notes: TranslationNotes): number | null {
  if (request.outputTokensMax !== 0) return capOutput(request, traits, notes);
  throw refuseMember(
    request.named.output_limit ?? 'max_tokens',
    `found 0; ${traits.model} answers with at least 1 token`,
  );
}

interface FittedSampling {
  readonly temperature: number | undefined;
  readonly topP: number | undefined;
  readonly fields: { readonly [member: string]: WritableJson };
}

function fitSampling(request: GenerationRequest, thinks: boolean, context: PartContext): FittedSampling {
  const { traits, vendor, notes } = context;
  const { topK, refuses } = vendor;
  const left = { ...request };
  const drop = (feature: 'temperature' | 'top_p' | 'top_k', isDefault: boolean) => {
    if (!isDefault) notes.drop(request.named[feature] ?? feature, `${traits.model} does not take it`);
    left[feature] = null;
  };
  if (refuses.has('temperature') && request.temperature !== null) drop('temperature', request.temperature === 1);
  if (refuses.has('topP') && request.top_p !== null) drop('top_p', request.top_p === 1);
  if (topK === null && request.top_k !== null) drop('top_k', request.top_k < 1);
  const { temperature, top_p, top_k } = renderSampling(left, traits, thinks, notes);
  const fields = topK === null || top_k === undefined ? {} : nest(topK, top_k);
  return { temperature, topP: top_p, fields };
}

function nest(path: readonly string[], value: number): { readonly [member: string]: WritableJson } {
  const [head = '', ...rest] = path;
  return { [head]: rest.length === 0 ? value : nest(rest, value) };
}

/** Only Anthropic's models tell which sequence stopped them, in a member that has to be asked for. */
function pathsOf({ stream }: GenerationRequest, { vendor }: PartContext): string[] | undefined {
  if (vendor.reasoning !== 'thinking') return undefined;
  return [stream ? '/delta/stop_sequence' : '/stop_sequence'];
}

function renderOutputConfig(
  { named, output_format }: GenerationRequest,
  { schema }: OutputForm,
  notes: TranslationNotes,
): WritableJson | undefined {
  if (schema === null || output_format?.kind !== 'json_schema') return undefined;
  const jsonSchema = {
    schema: renderSchema(schema, `${named.output_format ?? 'output_format'}.schema`, notes),
    name: output_format.name ?? undefined,
    description: output_format.description ?? undefined,
  };
  return { textFormat: { type: 'json_schema', structure: { jsonSchema } } };
}

const MARKS_MAX = 4;

/** Removes the first cache points until no more are left than models accept. `lists` are in prompt order. */
function limitCachePoints(lists: readonly Block[][], { notes }: PartContext): void {
  const isPoint = ({ cachePoint }: Block) => cachePoint !== undefined;
  let surplus = lists.flat().filter(isPoint).length - MARKS_MAX;
  if (surplus > 0) notes.drop('cache_control', 'a request has at most four marks; the last four were kept');
  for (const list of lists) {
    for (let at = list.findIndex(isPoint); at !== -1 && surplus > 0; at = list.findIndex(isPoint)) {
      list.splice(at, 1);
      surplus -= 1;
    }
  }
}

const HASH_CHARS = 32;

/**
 * A label in the operator's own logs at AWS. Hashes what labels may not contain, and ids from `metadata.user_id`: Claude
 * Code puts device, account and session ids there.
 */
function labelOf(end_user: string, { named }: GenerationRequest): string {
  const isPrivate = named.end_user?.startsWith('metadata') ?? false;
  if (!isPrivate && /^[a-zA-Z0-9\s:_@$#=/+,.-]{1,256}$/.test(end_user)) return end_user;
  return createHash('sha256').update(end_user).digest('hex').slice(0, HASH_CHARS);
}

/** Names the options that have no place. */
function dropOthers(request: GenerationRequest, notes: TranslationNotes): void {
  const { service_tier, named } = request;
  dropVerbosity(request, 'Bedrock', notes);
  if (service_tier !== null && !['auto', 'default', 'standard_only'].includes(service_tier)) {
    notes.drop(named.service_tier ?? 'service_tier', 'the tier at Bedrock is a setting of the provider');
  }
}

/** What the operator has set for the provider. */
function renderSettings({ guardrail, serviceTier, latency }: ConverseTraits, stream: boolean) {
  return {
    guardrailConfig:
      guardrail === null
        ? undefined
        : {
            guardrailIdentifier: guardrail.identifier,
            guardrailVersion: guardrail.version,
            trace: guardrail.trace ?? undefined,
            streamProcessingMode: stream ? (guardrail.streamProcessing ?? undefined) : undefined,
          },
    serviceTier: serviceTier === null ? undefined : { type: serviceTier },
    performanceConfig: latency === null ? undefined : { latency },
  };
}

/** The tests check this table against `renderRequest`. */
export const RENDERED_FEATURES: FeatureFates = {
  tools:
    'carried: free-text tools as functions with one text; strict where the model keeps to schemas, and named where not; grammars and tools of other formats are refused',
  tool_choice: 'carried: `none` by leaving the tools out; if the history has calls, the tools stay, and it is named',
  parallel_tool_calls: "carried: at Anthropic's models; else false is dropped",
  output_limit: "carried: lowered to the model's maximum, and named; 0 is refused",
  stop: 'carried: the gateway searches for those that the model does not take',
  ...SAMPLING_FATES,
  top_k: "carried: in the vendor's own field; dropped if the vendor has no such field, or the model thinks",
  reasoning:
    "carried: in the vendor's own field: Anthropic's thinking, or an effort; the nearest effort is named; dropped if the vendor has no such field",
  output_format:
    'carried: a schema as outputConfig.textFormat, its objects closed, or through a tool, as that of a map or a tree; keywords that models refuse become words in descriptions, and are named; plain JSON by an instruction, and taken out of what the model wrote around it',
  verbosity: 'dropped: `medium` has no effect',
  end_user: 'emulated: as a label in the logs of the AWS account, hashed if it contains device ids',
  service_tier: "dropped: the operator's setting applies; auto and default have no effect",
  cache_marks:
    "carried: as cache points, the last four; up to 5 minutes, or an hour at Anthropic's models; dropped if the model takes none there",
  web_search: 'refused',
};
