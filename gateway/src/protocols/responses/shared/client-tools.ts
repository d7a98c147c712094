/**
 * Lists the tools of the format that clients run by themselves: searches for tools, shells, patches. Models of other formats
 * get functions in their place, and their calls are items of a type of their own. Source: responses, B.2 and B.4.
 */
import type { JsonText } from '../../../generation/part.ts';
import type { JsonObject } from '../../json.ts';

/** The type of the tool, which is the name of its function too. */
export type ClientToolType = 'tool_search' | 'local_shell' | 'shell' | 'apply_patch';

export interface ClientTool {
  readonly description: string;
  /** The schema of the arguments; null: the client writes it. */
  readonly parameters: JsonText | null;
  /** The beginning of the ids of its calls. */
  readonly prefix: string;
  /** The member of a call that holds the arguments as an object. */
  readonly member: 'arguments' | 'action' | 'operation';
  /** Members of that object that clients read and models leave out. */
  readonly filled: JsonObject;
  /** Further members of a call. */
  readonly members: JsonObject;
}

const STRING = { type: 'string' };
const STRINGS = { type: 'array', items: STRING };
const schema = (properties: object, required: readonly string[]): JsonText =>
  JSON.stringify({ type: 'object', properties, required });

export const CLIENT_TOOLS: Readonly<Record<ClientToolType, ClientTool>> = {
  tool_search: {
    description: 'Finds more tools.',
    parameters: null,
    prefix: 'tsc',
    member: 'arguments',
    filled: {},
    members: { execution: 'client' },
  },
  local_shell: {
    description: 'Runs a command on the machine of the user, and returns its output.',
    parameters: schema(
      {
        command: { ...STRINGS, description: 'The program and its arguments.' },
        working_directory: STRING,
        env: { type: 'object', additionalProperties: STRING },
        timeout_ms: { type: 'integer' },
      },
      ['command'],
    ),
    prefix: 'lsh',
    member: 'action',
    filled: { type: 'exec', env: {} },
    members: {},
  },
  shell: {
    description: 'Runs shell commands, each in a shell of its own, and returns their output.',
    parameters: schema({ commands: STRINGS, timeout_ms: { type: 'integer' }, max_output_length: { type: 'integer' } }, [
      'commands',
    ]),
    prefix: 'sh',
    member: 'action',
    filled: { timeout_ms: null, max_output_length: null },
    members: {},
  },
  apply_patch: {
    description:
      'Creates, updates or deletes a file. `diff`, for the first two: hunks that begin with "@@", in which each line begins with a space (context), - (removed) or + (added); a new file has lines with + alone.',
    parameters: schema({ type: { enum: ['create_file', 'update_file', 'delete_file'] }, path: STRING, diff: STRING }, [
      'type',
      'path',
    ]),
    prefix: 'apc',
    member: 'operation',
    filled: {},
    members: {},
  },
};

export function isClientTool(type: string): type is ClientToolType {
  return Object.hasOwn(CLIENT_TOOLS, type);
}

/** The tool whose call an item of this type is; null: of no such tool. */
export function clientToolOf(itemType: string): ClientToolType | null {
  const type = itemType.endsWith('_call') ? itemType.slice(0, -'_call'.length) : '';
  return isClientTool(type) ? type : null;
}
