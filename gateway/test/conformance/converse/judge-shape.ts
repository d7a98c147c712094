/**
 * Judges a Converse request by AWS's own service model, as `botocore` does before it sends one, and its enumerations and
 * patterns too. `request-shapes.json` is the model, reduced by `gateway/scripts/converse-shapes.ts`.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Json, object } from '../wire-text.ts';

interface Shape {
  readonly type: string;
  readonly members?: Readonly<Record<string, string>>;
  readonly required?: readonly string[];
  readonly member?: string;
  readonly key?: string;
  readonly value?: string;
  readonly enum?: readonly string[];
  readonly min?: number;
  readonly max?: number;
  readonly pattern?: string;
  readonly union?: boolean;
  /** Any JSON. */
  readonly document?: boolean;
}

const MODEL = JSON.parse(readFileSync(join(import.meta.dir, 'request-shapes.json'), 'utf8')) as {
  readonly source: string;
  readonly shapes: Readonly<Record<string, Shape>>;
};

/** Where the model comes from. */
export const SHAPES_SOURCE = MODEL.source;

/** Every rule of the model that the body breaks. The model id is in the address. */
export function judgeShape(body: Json, stream: boolean): string[] {
  return judge({ modelId: 'a.b', ...body }, stream ? 'ConverseStreamRequest' : 'ConverseRequest', '');
}

function judge(value: unknown, name: string, at: string): string[] {
  const shape = MODEL.shapes[name];
  if (shape === undefined) throw new Error(`no shape ${name}`);
  if (shape.document === true) return [];
  switch (shape.type) {
    case 'structure':
      return judgeStructure(value, shape, at);
    case 'list':
      if (!Array.isArray(value)) return [`${at} is no list`];
      return [
        ...judgeRange(value.length, shape, `${at}: entries`),
        ...value.flatMap((one, index) => judge(one, shape.member ?? '', `${at}[${index}]`)),
      ];
    case 'map':
      return judgeMap(value, shape, at);
    case 'string':
      return judgeText(value, shape, at);
    case 'blob':
      return typeof value === 'string' && /^[A-Za-z0-9+/]*={0,2}$/.test(value)
        ? judgeRange(Buffer.from(value, 'base64').length, shape, `${at}: bytes`)
        : [`${at} is no base64`];
    case 'boolean':
      return typeof value === 'boolean' ? [] : [`${at} is no boolean`];
    case 'integer':
    case 'float':
      if (typeof value !== 'number' || (shape.type === 'integer' && !Number.isInteger(value))) {
        return [`${at} is no ${shape.type}`];
      }
      return judgeRange(value, shape, at);
    default:
      throw new Error(`a shape of type ${shape.type}`);
  }
}

function judgeStructure(value: unknown, shape: Shape, at: string): string[] {
  const given = object(value);
  if (given === null) return [`${at} is no object`];
  const names = Object.keys(given);
  const missing = (shape.required ?? []).filter((name) => given[name] === undefined);
  const isOne = shape.union !== true || names.length === 1;
  return [
    ...missing.map((name) => `${at}.${name} is missing`),
    ...(isOne ? [] : [`${at} has ${names.length} members of a union: ${names}`]),
    ...names.flatMap((name) => {
      const member = shape.members?.[name];
      return member === undefined ? [`${at}.${name} is unknown`] : judge(given[name], member, `${at}.${name}`);
    }),
  ];
}

function judgeMap(value: unknown, shape: Shape, at: string): string[] {
  const given = object(value);
  if (given === null) return [`${at} is no object`];
  return [
    ...judgeRange(Object.keys(given).length, shape, `${at}: entries`),
    ...Object.entries(given).flatMap(([key, one]) => [
      ...judge(key, shape.key ?? '', `${at}: a key`),
      ...judge(one, shape.value ?? '', `${at}.${key}`),
    ]),
  ];
}

function judgeText(value: unknown, shape: Shape, at: string): string[] {
  if (typeof value !== 'string') return [`${at} is no text`];
  const matches = shape.pattern === undefined || new RegExp(`^(?:${shape.pattern})$`).test(value);
  return [
    ...judgeRange(value.length, shape, `${at}: characters`),
    ...(shape.enum === undefined || shape.enum.includes(value) ? [] : [`${at} is ${value}`]),
    ...(matches ? [] : [`${at} is ${JSON.stringify(value)}, unlike ${shape.pattern}`]),
  ];
}

function judgeRange(count: number, { min, max }: Shape, what: string): string[] {
  return (min !== undefined && count < min) || (max !== undefined && count > max) ? [`${what} ${count}`] : [];
}
