/**
 * Checks whether Google would accept a request of `generateContent`, from its reference and recorded refusals alone. Uses
 * no product code, so that writer and judge cannot share an error.
 */
import { type Json, list, object } from '../wire-text.ts';

const MEMBERS: ReadonlySet<string> = new Set([
  ...['contents', 'systemInstruction', 'tools', 'toolConfig', 'generationConfig', 'serviceTier'],
]);
const CONFIG: ReadonlySet<string> = new Set([
  ...['temperature', 'topP', 'topK', 'seed', 'presencePenalty', 'frequencyPenalty', 'maxOutputTokens'],
  ...['stopSequences', 'responseMimeType', 'responseJsonSchema', 'thinkingConfig', 'responseLogprobs', 'logprobs'],
]);
/** What a part may hold, by role; each has one of them. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  user: ['text', 'inlineData', 'fileData', 'functionResponse'],
  model: ['text', 'functionCall', 'inlineData', 'toolCall', 'toolResponse', 'executableCode', 'codeExecutionResult'],
};
const KEYWORDS: ReadonlySet<string> = new Set([
  ...['$id', '$defs', '$ref', '$anchor', 'type', 'format', 'title', 'description', 'enum', 'items', 'prefixItems'],
  ...['minItems', 'maxItems', 'minimum', 'maximum', 'anyOf', 'oneOf', 'properties', 'additionalProperties'],
  ...['required', 'propertyOrdering'],
]);
const NAME = /^[A-Za-z_][A-Za-z0-9_.:-]{0,127}$/;

export interface Judged {
  /** Calls must be signed: Gemini 3 and later. */
  readonly signs: boolean;
  readonly vertex: boolean;
}

/** Returns every rule that the body breaks; empty if it is legal. */
export function judgeGeminiRequest(body: Json, { signs, vertex }: Judged): string[] {
  const contents = list(body.contents).map((content) => object(content) ?? {});
  const unknown = Object.keys(body).filter((name) => !MEMBERS.has(name));
  return [
    ...unknown.map((name) => `an unknown member ${name}`),
    ...(contents.length === 0 ? ['no contents'] : []),
    ...(contents[0]?.role === 'user' ? [] : ['the first content is not the user’s']),
    ...contents.flatMap((content, at) => judgeContent(content, contents[at - 1], contents[at + 1], signs)),
    ...contents.flatMap((content) => partsOf(content).flatMap((part) => judgePart(part, String(content.role), vertex))),
    ...judgeSystem(body.systemInstruction),
    ...judgeTools(body, signs),
    ...judgeConfig(object(body.generationConfig), body.generationConfig !== undefined),
    ...(hasRef(contents) ? ['a $ref in a result'] : []),
  ];
}

function partsOf(content: Json | undefined): Json[] {
  return list(content?.parts).map((part) => object(part) ?? {});
}

function judgeContent(content: Json, before: Json | undefined, after: Json | undefined, signs: boolean): string[] {
  const { role } = content;
  const parts = partsOf(content);
  const calls = parts.flatMap((part) => (object(part.functionCall) === null ? [] : [part]));
  const results = parts.filter((part) => part.functionResponse !== undefined).length;
  const answers = partsOf(after).filter((part) => part.functionResponse !== undefined);
  const called = partsOf(before).filter((part) => part.functionCall !== undefined).length;
  const isAnswered =
    answers.length === calls.length && namesOf(answers, 'functionResponse') === namesOf(calls, 'functionCall');
  return [
    ...(role === 'user' || role === 'model' ? [] : [`the role ${role}`]),
    ...(before?.role === role ? [`two contents of the ${role}`] : []),
    ...(parts.length === 0 ? ['a content without parts'] : []),
    ...(Object.keys(content).some((name) => name !== 'role' && name !== 'parts') ? ['more members of a content'] : []),
    ...(calls.length > 0 && !isAnswered ? ['calls without their results'] : []),
    ...(results > 0 && results !== called ? ['results without their calls'] : []),
    ...(parts.slice(0, results).every((part) => part.functionResponse !== undefined) ? [] : ['a part before a result']),
    ...(signs && calls.length > 0 && typeof calls[0]?.thoughtSignature !== 'string' ? ['an unsigned step'] : []),
  ];
}

function namesOf(parts: readonly Json[], member: string): string {
  return parts.map((part) => `${object(part[member])?.id} ${object(part[member])?.name}`).join();
}

function judgePart(part: Json, role: string, vertex: boolean): string[] {
  const kinds = (PARTS[role] ?? []).filter((name) => part[name] !== undefined);
  const others = Object.keys(part).filter((name) => name !== 'thoughtSignature' && !kinds.includes(name));
  const called = object(part.functionCall ?? part.functionResponse);
  return [
    ...(kinds.length === 1 ? [] : [`a part of ${kinds.length} kinds in a content of the ${role}`]),
    ...others.map((name) => `a part with ${name}`),
    ...(part.text === '' && part.thoughtSignature === undefined ? ['an empty text'] : []),
    ...(called === null ? [] : judgeCalled(part, called, vertex)),
    ...(part.inlineData === undefined || isInline(object(part.inlineData)) ? [] : ['inlineData']),
  ];
}

function judgeCalled(part: Json, called: Json, vertex: boolean): string[] {
  const value = part.functionCall === undefined ? called.response : called.args;
  return [
    ...(NAME.test(String(called.name)) ? [] : [`the name ${called.name}`]),
    ...(object(value) === null ? ['arguments or a result that are no object'] : []),
    ...(vertex === (called.id === undefined) ? [] : [vertex ? 'an id at Vertex' : 'no id']),
  ];
}

function isInline(data: Json | null): boolean {
  return typeof data?.mimeType === 'string' && data.mimeType.includes('/') && typeof data.data === 'string';
}

function judgeSystem(system: unknown): string[] {
  if (system === undefined) return [];
  const parts = partsOf(object(system) ?? {});
  const isSpoken = parts.length > 0 && parts.every(({ text }) => typeof text === 'string' && text !== '');
  return isSpoken ? [] : ['systemInstruction'];
}

function judgeTools({ tools, toolConfig }: Json, combines: boolean): string[] {
  const lists = list(tools).map((one) => object(one) ?? {});
  const declared = lists.flatMap(({ functionDeclarations }) =>
    list(functionDeclarations).map((one) => object(one) ?? {}),
  );
  const serves = lists.some(({ functionDeclarations }) => functionDeclarations === undefined);
  const names = declared.map(({ name }) => String(name));
  const calling = object(object(toolConfig)?.functionCallingConfig);
  const allowed = list(calling?.allowedFunctionNames).map(String);
  return [
    ...(tools !== undefined && lists.length === 0 ? ['an empty list of tools'] : []),
    ...(new Set(names).size < names.length ? [`tools of one name: ${names}`] : []),
    ...names.filter((name) => !NAME.test(name)).map((name) => `the tool name ${name}`),
    ...declared.flatMap(({ parametersJsonSchema: schema }) => (schema === undefined ? [] : judgeSchema(schema))),
    ...declared.flatMap((one) => (one.parameters === undefined ? [] : ['parameters beside their JSON Schema'])),
    ...(declared.length > 0 && serves && !combines ? ['functions beside server tools'] : []),
    ...(calling !== null && declared.length === 0 ? ['a choice without functions'] : []),
    ...(calling === null || ['AUTO', 'ANY', 'NONE', 'VALIDATED'].includes(String(calling.mode)) ? [] : ['the mode']),
    ...(allowed.length > 0 && calling?.mode !== 'ANY' ? ['names without ANY'] : []),
    ...allowed.filter((name) => !names.includes(name)).map((name) => `an allowed ${name} that is not declared`),
  ];
}

/** The keywords of a schema and all below it. */
function judgeSchema(value: unknown): string[] {
  const schema = object(value);
  if (schema === null) return typeof value === 'boolean' ? [] : ['a schema that is no object'];
  const unknown = Object.keys(schema).filter((name) => !KEYWORDS.has(name));
  const beside = schema.$ref === undefined ? [] : Object.keys(schema).filter((name) => !name.startsWith('$'));
  const named = [schema.properties, schema.$defs].flatMap((schemas) => Object.values(object(schemas) ?? {}));
  const listed = [schema.anyOf, schema.oneOf, schema.prefixItems].flatMap(list);
  const single = [schema.items, schema.additionalProperties].filter((one) => one !== undefined);
  return [
    ...unknown.map((name) => `the keyword ${name}`),
    ...beside.map((name) => `${name} beside $ref`),
    ...[...named, ...listed, ...single].flatMap(judgeSchema),
  ];
}

function judgeConfig(config: Json | null, isGiven: boolean): string[] {
  if (config === null) return isGiven ? ['generationConfig'] : [];
  const thinking = object(config.thinkingConfig);
  const within = (name: string, least: number, most: number) => {
    const value = config[name];
    return value === undefined || (typeof value === 'number' && value >= least && value <= most)
      ? []
      : [`${name} ${value}`];
  };
  return [
    ...Object.keys(config).flatMap((name) => (CONFIG.has(name) ? [] : [`the option ${name}`])),
    ...within('temperature', 0, 2),
    ...within('topP', 0, 1),
    ...within('maxOutputTokens', 1, Number.MAX_SAFE_INTEGER),
    ...within('seed', -(2 ** 31), 2 ** 31 - 1),
    ...within('logprobs', 1, 20),
    ...(config.logprobs === undefined || config.responseLogprobs === true ? [] : ['likely tokens alone']),
    ...(list(config.stopSequences).length > 5 ? ['more than five stop sequences'] : []),
    ...(config.responseJsonSchema === undefined ? [] : judgeSchema(config.responseJsonSchema)),
    ...(config.responseJsonSchema === undefined || config.responseMimeType === 'application/json'
      ? []
      : ['a schema alone']),
    ...(thinking?.thinkingBudget !== undefined && thinking.thinkingLevel !== undefined ? ['budget and level'] : []),
  ];
}

function hasRef(contents: readonly Json[]): boolean {
  const responses = contents.flatMap((content) =>
    partsOf(content).map((part) => object(part.functionResponse)?.response),
  );
  return responses.some((response) => JSON.stringify(response ?? null).includes('"$ref":'));
}
