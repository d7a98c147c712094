/**
 * Chooses how to request the response format: natively, through a tool, or by an instruction. Source: wire reference
 * C.1.
 */
import type { JsonText } from '../../../generation/part.ts';
import type { GenerationRequest, Tool } from '../../../generation/request.ts';
import { refuseMember } from '../../request/translation-notes.ts';
import type { UpstreamTraits } from '../../upstream-traits.ts';

export interface OutputForm {
  /** For `output_config.format`. */
  readonly schema: JsonText | null;
  /** A tool whose arguments are the response. */
  readonly tool: { readonly name: string; readonly schema: JsonText; readonly description: string | null } | null;
  readonly instruction: string | null;
  readonly extractsJson: boolean;
}

const PLAIN: OutputForm = { schema: null, tool: null, instruction: null, extractsJson: false };
const JSON_INSTRUCTION = 'Answer with a single JSON object and nothing else.';
const TOOL_NAME = 'json_output';

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
  if (traits.takes.structured_output !== false) return { ...PLAIN, schema: format.schema };
  if (traits.takes.tools === false) {
    const member = request.named.output_format ?? 'output_format';
    throw refuseMember(
      member,
      `${traits.model} takes neither a schema nor tools; ask for the form in words, or choose another model`,
    );
  }
  // A call that the client forces is the whole response, so no text remains to be formatted.
  if (forces(choice)) return PLAIN;
  const name = freeName(request.tools);
  const instruction = traits.messages.forcedToolChoice
    ? null
    : `Give your final answer only by calling the tool "${name}", and write no text beside it.`;
  return { ...PLAIN, tool: { name, schema: format.schema, description: format.description }, instruction };
}

function forces(choice: GenerationRequest['tool_choice']): boolean {
  return (
    choice?.kind === 'required' || choice?.kind === 'tool' || (choice?.kind === 'allowed' && choice.mode === 'required')
  );
}

function freeName(tools: readonly Tool[]): string {
  const taken = new Set(tools.map(({ name }) => name));
  let name = TOOL_NAME;
  for (let count = 2; taken.has(name); count++) name = `${TOOL_NAME}_${count}`;
  return name;
}
