/** Reads numbers and switches, which JSON has as such and forms as text. */
import { isInteger, type JsonNode, numberValue, stringValue } from '../../wire/json-node.ts';
import { refuse } from '../request/request-facts.ts';

const DIGITS = /^[0-9]{1,9}$/;

/** A whole number within an inclusive range; undefined: absent or null. Throws CallFailure `invalid_request`. */
export function readWhole(node: JsonNode | undefined, path: string, least: number, most: number): number | undefined {
  if (node === undefined || node.kind === 'null') return undefined;
  const text = stringValue(node);
  const given = text === undefined && isInteger(node) ? numberValue(node) : undefined;
  const value = text !== undefined && DIGITS.test(text) ? Number(text) : given;
  if (value === undefined || value < least || value > most) {
    throw refuse(path, node, `an integer from ${least} to ${most}`);
  }
  return value;
}

/**
 * Absent, null and an empty text are false. A provider must not read it otherwise: it decides the form of the answer.
 * Throws CallFailure `invalid_request`.
 */
export function readSwitch(node: JsonNode | undefined, path: string): boolean {
  if (node === undefined || node.kind === 'null' || node.kind === 'false') return false;
  if (node.kind === 'true') return true;
  const word = stringValue(node)?.toLowerCase();
  if (word === 'true' || word === '1') return true;
  if (word === '' || word === 'false' || word === '0') return false;
  throw refuse(path, node, 'true or false');
}
