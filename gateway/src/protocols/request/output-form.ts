/**
 * Chooses how to request the format of an answer: by a schema, through a tool, or by an instruction. Source: wire
 * reference C.1.
 */
import type { JsonText } from '../../generation/part.ts';
import { forcesTool, type GenerationRequest } from '../../generation/request.ts';
import type { UpstreamTraits } from '../upstream-traits.ts';
import { JSON_INSTRUCTION, nameOutputTool } from './emulated-tools.ts';
import { fitSchema } from './fit-schema.ts';
import { refuseMember } from './translation-notes.ts';

/** How the answer gets its form. */
export interface OutputForm {
  /** For the format's own member. */
  readonly schema: JsonText | null;
  /** A tool whose arguments are the response. */
  readonly tool: { readonly name: string; readonly schema: JsonText; readonly description: string | null } | null;
  readonly instruction: string | null;
  readonly extractsJson: boolean;
}

const PLAIN: OutputForm = { schema: null, tool: null, instruction: null, extractsJson: false };

/**
 * Throws CallFailure `invalid_request` for a model that supports neither schemas nor tools, and for plain JSON with a
 * strict API key.
 */
export function chooseOutputForm(request: GenerationRequest, traits: UpstreamTraits, strict: boolean): OutputForm {
  const { output_format: format, tool_choice: choice } = request;
  if (format === null) return PLAIN;
  if (format.kind === 'json' && strict) {
    throw refuseMember(
      request.named.output_format ?? 'output_format',
      `${traits.model} can only be asked in words for JSON, and this API key is strict. Give a schema, or use a key that is not`,
    );
  }
  if (format.kind === 'json') return { ...PLAIN, instruction: JSON_INSTRUCTION, extractsJson: true };
  if (traits.takes.structured_output !== false && (traits.takes.tools === false || isClosable(format.schema)))
    return { ...PLAIN, schema: format.schema };
  if (traits.takes.tools === false) {
    const member = request.named.output_format ?? 'output_format';
    throw refuseMember(
      member,
      `${traits.model} takes neither a schema nor tools; ask for the form in words, or choose another model`,
    );
  }
  // A call that the client forces is the whole response, so no text remains to be formatted.
  if (forcesTool(choice)) return PLAIN;
  const name = nameOutputTool(request.tools);
  const instruction = traits.messages.forcedToolChoice
    ? null
    : `Give your final answer only by calling the tool "${name}", and write no text beside it.`;
  return { ...PLAIN, tool: { name, schema: format.schema, description: format.description }, instruction };
}

/** The arguments of a tool need not be closed, so that they can be a map from names to numbers, any object, or a tree. */
function isClosable(schema: JsonText): boolean {
  const { losesMembers, isBare, isRefused } = fitSchema(schema);
  return !losesMembers && !isBare && !isRefused;
}
