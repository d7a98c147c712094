/**
 * Parses recorded calls of Gemini's native API into prompts with their counted tokens. No client of the product uses
 * that format; of its models' calls through chat completions too few are recorded to learn from.
 */
import { type Part, type ToolCallPart, type ToolResultPart, textPart } from '../../../src/generation/part.ts';
import type { GenerationRequest, Tool, Turn } from '../../../src/generation/request.ts';
import { requestOf } from '../../../src/generation/testing/request-of.ts';
import { parseObject } from '../../../src/protocols/json.ts';
import { type Recording, recordingBytes } from '../../fake-upstream/recording.ts';
import { type Json, list, object, textRecords, words } from '../wire-text.ts';
import type { RecordedPrompt } from './recorded-prompts.ts';

/**
 * Null if the prompt has more than text and plain functions: a thought signature, media, a server tool, cached content.
 */
export function readGeminiPrompt(recording: Recording): RecordedPrompt | null {
  const body = object(recording.request?.body);
  if (body === null || recording.response.status !== 200) return null;
  if (!Array.isArray(body.contents) || body.cachedContent != null) return null;
  const answers = answersOf(recording);
  const usage = answers.map((answer) => object(answer.usageMetadata)).findLast((found) => found !== null);
  const promptTokens = usage?.promptTokenCount;
  if (usage == null || typeof promptTokens !== 'number' || promptTokens === 0 || usage.toolUsePromptTokenCount)
    return null;
  const turns = [body.systemInstruction, ...body.contents].flatMap((content) => turnOf(object(content)));
  const tools = list(body.tools).flatMap((tool) => toolsOf(object(tool)));
  if (turns.includes(null) || tools.includes(null)) return null;
  const model = /models\/([^:/]+)/.exec(recording.request?.path ?? '')?.[1];
  if (model === undefined) return null;
  const request = requestOf({
    model,
    turns: turns as Turn[],
    tools: tools as Tool[],
    output_format: formatOf(object(body.generationConfig)),
  });
  return { id: recording.id, model, request, promptTokens, answer: answerOf(answers, usage) };
}

function answersOf(recording: Recording): Json[] {
  const text = new TextDecoder().decode(recordingBytes(recording));
  const whole = parseObject(text);
  if (whole !== null) return [whole];
  if (recording.response.body_encoding === 'json-array-stream') {
    return objects(JSON.parse(text));
  }
  return textRecords(text).flatMap(({ data }) => (data === null || data === 'DONE' ? [] : [data]));
}

function objects(values: unknown): Json[] {
  return list(values)
    .map(object)
    .filter((value) => value !== null);
}

function answerOf(answers: readonly Json[], usage: Json): RecordedPrompt['answer'] {
  const candidates = objects(answers.map((answer) => list(answer.candidates)[0]));
  const parts = candidates
    .flatMap((candidate) => list(object(candidate.content)?.parts))
    .map((part) => object(part) ?? {});
  const isText = parts.every((part) => typeof part.text === 'string' && part.thought !== true);
  const tokens = usage.candidatesTokenCount;
  if (!isText || usage.thoughtsTokenCount || typeof tokens !== 'number') return null;
  if (!candidates.some((candidate) => candidate.finishReason === 'STOP')) return null;
  const text = parts.map((part) => part.text).join('');
  return text === '' ? null : { text, tokens };
}

/** Empty if there is no content; contains null for parts that cannot be counted. */
function turnOf(content: Json | null): Array<Turn | null> {
  if (content === null) return [];
  const parts = list(content.parts).map((part) => partOf(object(part) ?? {}));
  if (parts.includes(null)) return [null];
  const role = content.role === 'model' ? 'assistant' : content.role === 'user' ? 'user' : 'system';
  return [{ role, name: null, parts: parts as Part[], path: 'contents' }];
}

function partOf(part: Json): Part | null {
  if (part.thoughtSignature != null || part.thought_signature != null || part.thought === true) return null;
  if (typeof part.text === 'string') return textPart(part.text);
  const call = object(part.functionCall ?? part.function_call);
  if (call !== null) return callPart(call);
  const result = object(part.functionResponse ?? part.function_response);
  return result === null || result.parts !== undefined ? null : resultPart(result);
}

function callPart(call: Json): ToolCallPart {
  const name = words(call.name) ?? '';
  return {
    kind: 'tool_call',
    id: '',
    name,
    tool: 'function',
    arguments: JSON.stringify(call.args ?? {}),
    cache_mark: null,
  };
}

function resultPart(result: Json): ToolResultPart {
  const parts = [textPart(JSON.stringify(result.response))];
  return { kind: 'tool_result', call_id: '', parts, is_error: false, cache_mark: null };
}

/** Contains null for a server tool. */
function toolsOf(tool: Json | null): Array<Tool | null> {
  const declarations = tool?.functionDeclarations ?? tool?.function_declarations;
  if (tool === null || Object.keys(tool).length !== 1 || !Array.isArray(declarations)) return [null];
  return declarations.map((declaration) => {
    const { name, description, parameters, parametersJsonSchema, parameters_json_schema } = object(declaration) ?? {};
    const schema = parameters ?? parametersJsonSchema ?? parameters_json_schema;
    return {
      kind: 'function',
      name: words(name) ?? '',
      description: words(description),
      parameters: schema === undefined ? null : JSON.stringify(schema),
      strict: null,
      cache_mark: null,
    };
  });
}

function formatOf(config: Json | null): GenerationRequest['output_format'] {
  const schema = config?.responseSchema ?? config?.responseJsonSchema;
  return schema == null
    ? null
    : { kind: 'json_schema', name: null, description: null, schema: JSON.stringify(schema), strict: null };
}
