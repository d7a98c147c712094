/**
 * Owns checking that a text is JSON of an object, and giving a schema its type, while all else stays as it was written.
 */
import type { JsonText } from '../../../generation/part.ts';
import { type JsonOutline, jsonText, member, stringValue } from '../../../wire/json-node.ts';
import type { JsonProblem } from '../../../wire/json-problem.ts';
import { scanJson } from '../../../wire/json-scan.ts';
import { spliceJson } from '../../../wire/json-splice.ts';
import { parseObject } from '../../json.ts';
import { refuseMember } from '../../request/translation-notes.ts';

/** What a model or a caller wrote inside a body that was already held to the operator's limits. */
const LIMITS = { depthMax: 1000, keysPerObjectMax: 1_000_000, outlineDepth: 1 };

const NO_ARGUMENTS = '{"type":"object","properties":{}}';

/** Arguments of a call as JSON of an object; none are `{}`. Throws at `path` for anything else. */
export function exactArguments(written: string, path: string): JsonText {
  if (written.trim() === '') return '{}';
  const outcome = scanText(written);
  const whole = outcome.ok ? outcome.root.kind === 'object' : isDoubled(outcome, written);
  if (whole) return escapeHalves(written);
  const found = outcome.ok ? `JSON of kind ${outcome.root.kind}` : outcome.message;
  throw refuseMember(path, `found ${found}; expected JSON of an object: mend the call in the history`);
}

/**
 * The schema of a tool's arguments, of type object as Anthropic demands. Throws at `path` for a schema of anything
 * else.
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

/** A key that comes twice is the model's own writing; upstream reads it as it likes. */
function isDoubled(problem: JsonProblem, written: string): boolean {
  return problem.code === 'duplicate-key' && parseObject(written) !== null;
}

/** Halves of characters have no UTF-8; in JSON they can be written as escapes. */
function escapeHalves(json: string): JsonText {
  if (json.isWellFormed()) return json;
  return json.replace(/\p{Surrogate}/gu, (half) => `\\u${half.charCodeAt(0).toString(16)}`);
}
