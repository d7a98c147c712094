/**
 * Measures what a request adds to the prompt: the features of its texts, and the number of items that vendors frame
 * with tokens of their own. Contains no weights.
 */
import type { JsonText, Part } from '../generation/part.ts';
import { forcesTool, type GenerationRequest, type Tool, type Turn } from '../generation/request.ts';
import { countText, emptyTextCounts, type TextCounts } from './count-text.ts';

/** Items that cost tokens in addition to their text. */
export const FRAMES = [
  'request',
  'turn',
  /** Once, if there are tools. */
  'tools',
  'tool',
  /** Properties of a tool's schema, at all depths. */
  'property',
  'call',
  'result',
  /** The request demands a response format. */
  'format',
  /** The model must call a tool. */
  'forced',
] as const;

export type Frame = (typeof FRAMES)[number];

export interface PromptMeasure {
  readonly text: TextCounts;
  readonly frames: { readonly [frame in Frame]: number };
}

/** How a vendor's prompt shows tools: their JSON unchanged, or function declarations. */
export type ToolStyle = 'json' | 'declarations';

/** Measures everything except images, audio and non-text documents. */
export function measureRequest(request: GenerationRequest, style: ToolStyle): PromptMeasure {
  const text = emptyTextCounts();
  let properties = 0;
  for (const tool of request.tools) properties += measureTool(tool, style, text);
  const since = lastQuestion(request.turns);
  for (const [index, turn] of request.turns.entries()) {
    for (const part of turn.parts) measurePart(part, index > since, text);
  }
  const { output_format: format } = request;
  if (format?.kind === 'json_schema') countText(format.schema, text);
  const parts = request.turns.flatMap((turn) => turn.parts);
  return {
    text,
    frames: {
      request: 1,
      turn: request.turns.length,
      tools: request.tools.length > 0 ? 1 : 0,
      tool: request.tools.length,
      property: properties,
      call: parts.filter((part) => part.kind === 'tool_call').length,
      result: parts.filter((part) => part.kind === 'tool_result').length,
      format: format === null ? 0 : 1,
      forced: request.tools.length > 0 && forcesTool(request.tool_choice) ? 1 : 0,
    },
  };
}

/** Models see their reasoning since the last user question; every vendor's template omits earlier reasoning. */
function lastQuestion(turns: readonly Turn[]): number {
  return turns.findLastIndex((turn) => turn.role === 'user' && turn.parts.some((part) => part.kind !== 'tool_result'));
}

/** Returns the number of properties in its schema. */
function measureTool(tool: Tool, style: ToolStyle, text: TextCounts): number {
  if (tool.kind === 'opaque') {
    countText(tool.native.json, text);
    return 0;
  }
  if (tool.kind === 'custom') {
    for (const piece of [tool.name, tool.description, tool.grammar]) if (piece !== null) countText(piece, text);
    return 0;
  }
  const { properties, declaration } = describeSchema(tool.parameters);
  if (style === 'declarations') {
    if (tool.description !== null && tool.description !== '') countText(`// ${tool.description}\n`, text);
    countText(`type ${tool.name} = (${declaration === '' ? '' : `_: ${declaration}`}) => any;\n`, text);
  } else {
    countText(`{"name":"${tool.name}","description":"${tool.description ?? ''}","parameters":`, text);
    countText(`${tool.parameters ?? '{}'}}`, text);
  }
  return properties;
}

function measurePart(part: Part, isRecent: boolean, text: TextCounts): void {
  switch (part.kind) {
    case 'text':
    case 'refusal':
      countText(part.text, text);
      break;
    case 'reasoning':
      if (isRecent) countText(part.text, text);
      break;
    case 'tool_call':
      countText(part.name, text);
      countText(part.arguments, text);
      break;
    case 'tool_result':
      for (const inner of part.parts) measurePart(inner, isRecent, text);
      break;
    case 'opaque':
      countText(part.native.json, text);
      break;
    case 'document':
      for (const piece of [part.title, part.context]) if (piece !== null) countText(piece, text);
      if (part.source.kind === 'text') countText(part.source.text, text);
  }
}

/** A schema's outline. Without properties and text for null and for text that is not a JSON object. */
interface SchemaOutline {
  /** Properties at all depths. */
  readonly properties: number;
  /**
   * The type as a declaration: `{\n// Which one.\ncity: string,\nunit?: "C" | "F", // default: C\n}`; empty: takes
   * none.
   */
  readonly declaration: string;
}

/** Deeper schemas are cut: no vendor accepts them, and the recursion depth stays bounded for any input. */
const DEPTH_MAX = 24;

type Schema = { readonly [member: string]: unknown };

/** The outline of a schema's text. Never throws. */
export function describeSchema(json: JsonText | null): SchemaOutline {
  const schema = parse(json);
  if (schema === null) return { properties: 0, declaration: '' };
  const count = { properties: 0 };
  const declaration = typeOf(schema, count, DEPTH_MAX);
  return { properties: count.properties, declaration: count.properties === 0 ? '' : declaration };
}

function parse(json: JsonText | null): Schema | null {
  if (json === null) return null;
  try {
    return asSchema(JSON.parse(json));
  } catch {
    return null;
  }
}

function asSchema(value: unknown): Schema | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Schema) : null;
}

function typeOf(value: unknown, count: { properties: number }, depth: number): string {
  const schema = asSchema(value);
  if (schema === null || depth === 0) return 'any';
  if (Array.isArray(schema.enum)) return schema.enum.map((one) => JSON.stringify(one)).join(' | ');
  if ('const' in schema) return JSON.stringify(schema.const);
  for (const alternatives of [schema.anyOf, schema.oneOf, schema.allOf]) {
    if (Array.isArray(alternatives)) return alternatives.map((one) => typeOf(one, count, depth - 1)).join(' | ');
  }
  if (schema.properties !== undefined) return objectType(schema, count, depth);
  if (schema.items !== undefined) return `${typeOf(schema.items, count, depth - 1)}[]`;
  if (typeof schema.$ref === 'string') return schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1);
  return Array.isArray(schema.type) ? schema.type.join(' | ') : typeof schema.type === 'string' ? schema.type : 'any';
}

function objectType(schema: Schema, count: { properties: number }, depth: number): string {
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  let text = '{\n';
  for (const [name, value] of Object.entries(asSchema(schema.properties) ?? {})) {
    count.properties += 1;
    const property = asSchema(value);
    for (const comment of [property?.title, property?.description]) {
      if (typeof comment === 'string' && comment !== '') text += `// ${comment}\n`;
    }
    const fallback = property?.default;
    const note = fallback === undefined || fallback === null ? '' : ` // default: ${JSON.stringify(fallback)}`;
    text += `${name}${required.has(name) ? '' : '?'}: ${typeOf(value, count, depth - 1)},${note}\n`;
  }
  return `${text}}`;
}
