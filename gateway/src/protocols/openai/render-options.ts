/** Renders the options that have one form in OpenAI's two formats: end user, service tier, schema of the answer. */
import { createHash } from 'node:crypto';
import { textPart } from '../../generation/part.ts';
import type { GenerationRequest, OutputFormat, Turn } from '../../generation/request.ts';
import { RawJson } from '../../wire/json-writer.ts';
import { JSON_INSTRUCTION } from '../request/emulated-tools.ts';
import { aliasText } from '../request/tool-names.ts';
import { refuseMember } from '../request/translation-notes.ts';
import { callerWord, type Draft, modelWord, type OpenaiContext } from './render-context.ts';

const IDENTIFIER_CHARS_MAX = 128;
const HASH_CHARS = 32;
const FORMAT_NAME = 'output';
const FORMAT_NAME_CHARS_MAX = 64;

/** `safety_identifier` and `service_tier`. */
export function renderCaller({ end_user, service_tier, named }: GenerationRequest): Draft {
  return {
    safety_identifier: end_user === null ? undefined : identifierOf(end_user, named.end_user),
    service_tier: service_tier === 'standard_only' ? 'default' : (service_tier ?? undefined),
  };
}

/**
 * Hashes ids from `metadata.user_id`: Claude Code puts device, account and session ids there, which no other company
 * may get (wire reference C.2). Also hashes ids that are too long.
 */
function identifierOf(end_user: string, member = ''): string {
  if (!member.startsWith('metadata') && end_user.length <= IDENTIFIER_CHARS_MAX) return end_user;
  return createHash('sha256').update(end_user).digest('hex').slice(0, HASH_CHARS);
}

/** The members of a schema's format, without `strict`. Throws CallFailure if the model supports none. */
export function renderSchema(format: Extract<OutputFormat, { kind: 'json_schema' }>, context: OpenaiContext): Draft {
  if (context.traits.takes.structured_output === false) {
    const why = `${modelWord(context)} cannot answer to a schema; leave it out or use another model`;
    throw refuseMember(callerWord(context, 'output_format'), why);
  }
  return {
    name: aliasText(format.name || FORMAT_NAME, FORMAT_NAME_CHARS_MAX),
    description: format.description ?? undefined,
    schema: new RawJson(format.schema),
  };
}

/**
 * The request with an instruction, where it asks for plain JSON and no text says so: OpenAI and others then refuse it
 * ("'messages' must contain the word 'json' in some form"), and Gemini does not.
 * https://platform.openai.com/docs/guides/structured-outputs#json-mode, read 2026-11-29.
 */
export function askForJson(request: GenerationRequest): GenerationRequest {
  const { output_format, turns } = request;
  if (output_format?.kind !== 'json' || turns.some(saysJson)) return request;
  const [first, ...others] = turns;
  const instruction = textPart(JSON_INSTRUCTION);
  if (first?.role === 'system') {
    return { ...request, turns: [{ ...first, parts: [...first.parts, instruction] }, ...others] };
  }
  return { ...request, turns: [{ role: 'system', name: null, parts: [instruction], path: 'system' }, ...turns] };
}

function saysJson({ parts }: Turn): boolean {
  return parts.some((part) => part.kind === 'text' && /json/i.test(part.text));
}
