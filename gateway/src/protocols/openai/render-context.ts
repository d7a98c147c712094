/** Holds what the renderers of one request share in OpenAI's two formats: request, upstream, notes and tool aliases. */
import type { Feature, GenerationRequest, Turn } from '../../generation/request.ts';
import type { WritableJson } from '../../wire/json-writer.ts';
import { aliasText } from '../request/tool-names.ts';
import { refuseMember, type TranslationNotes } from '../request/translation-notes.ts';
import type { UpstreamTraits } from '../upstream-traits.ts';

/** A part, message, item or body under construction. */
export type Draft = { [member: string]: WritableJson | undefined };

export interface OpenaiContext {
  readonly request: GenerationRequest;
  readonly traits: UpstreamTraits;
  readonly notes: TranslationNotes;
  /** From upstream's tool name to the client's, for names that differ. */
  readonly restored: Map<string, string>;
}

/** Neither format has a member for a failed result, so its text says it. */
export const ERROR_PREFIX = '[tool error] ';
const TOOL_NAME_CHARS_MAX = 64;

/** The member with which the caller requested the feature. */
export function callerWord({ request }: OpenaiContext, feature: Feature): string {
  return request.named[feature] ?? feature;
}

/** The model by the caller's name, for error messages. */
export function modelWord({ request }: OpenaiContext): string {
  return `the model ${JSON.stringify(request.model)}`;
}

/** Throws CallFailure for an assistant's turn at the end, if upstream does not continue the beginning of an answer. */
export function requireNoPrefill({ path }: Turn, context: OpenaiContext): void {
  if (context.traits.chat.prefill !== 'refused') return;
  throw refuseMember(
    path,
    `is the assistant's and stands last, but ${modelWord(context)} takes no beginning of its answer; end with a user's message`,
  );
}

/** The upstream name of a tool, recorded so that the answer's calls get the client's name. */
export function upstreamName(name: string, { restored }: OpenaiContext): string {
  const alias = aliasText(name, TOOL_NAME_CHARS_MAX);
  if (alias !== name) restored.set(alias, name);
  return alias;
}
