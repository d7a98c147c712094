/** Checks that a text is a JSON object, and adds the type to a schema, without changing anything else in the text. */
import type { JsonText } from '../../../generation/part.ts';
import { type JsonOutline, jsonText, member, stringValue } from '../../../wire/json-node.ts';
import type { JsonProblem } from '../../../wire/json-problem.ts';
import { scanJson } from '../../../wire/json-scan.ts';
import { spliceJson } from '../../../wire/json-splice.ts';
import { parseObject } from '../../json.ts';
import { refuseMember } from '../../request/translation-notes.ts';

/** For text that a model or a client wrote inside a body already checked against the operator's limits. */
const LIMITS = { depthMax: 1000, keysPerObjectMax: 1_000_000, outlineDepth: 1 };

const NO_ARGUMENTS = '{"type":"object","properties":{}}';

/** Arguments of a call as a JSON object; empty arguments are `{}`. Throws at `path` for anything else. */
export function exactArguments(written: string, path: string): JsonText {
  if (written.trim() === '') return '{}';
  const outcome = scanText(written);
  const whole = outcome.ok ? outcome.root.kind === 'object' : isDoubled(outcome, written);
  if (whole) return escapeHalves(written);
  const found = outcome.ok ? `JSON of kind ${outcome.root.kind}` : outcome.message;
  throw refuseMember(path, `found ${found}; expected JSON of an object: mend the call in the history`);
}

/**
 * The schema of a tool's arguments, with type object as Anthropic requires. Throws at `path` for a schema of another
 * type.
 */
export function objectSchema(schema: JsonText | null, path: string): JsonText {
  if (schema === null) return NO_ARGUMENTS;
  const outcome = scanText(schema);
  if (!outcome.ok) throw refuseMember(path, outcome.message);
  const { root } = outcome;
  if (root.kind !== 'object') throw refuseMember(path, `found ${root.kind}; expected a JSON Schema (an object)`);
  const type = member(root, 'type');
  if (type !== undefined && type.kind !== 'null') {
    if (stringValue(type) === 'object') return schema;
    const found = jsonText(type).slice(0, 60);
    throw refuseMember(
      path,
      `found a schema of type ${found}; expected "object": put the value into a property of one`,
    );
  }
  return Buffer.from(spliceJson(outcome, [{ set: ['type'], json: '"object"' }])).toString();
}

function scanText(text: string): JsonOutline | JsonProblem {
  return scanJson(Buffer.from(text), LIMITS);
}

/** Duplicate keys come from the model; upstream decides how to read them. */
function isDoubled(problem: JsonProblem, written: string): boolean {
  return problem.code === 'duplicate-key' && parseObject(written) !== null;
}

/** Lone surrogates have no UTF-8 encoding; JSON can hold them as escapes. */
function escapeHalves(json: string): JsonText {
  if (json.isWellFormed()) return json;
  return json.replace(/\p{Surrogate}/gu, (half) => `\\u${half.charCodeAt(0).toString(16)}`);
}
