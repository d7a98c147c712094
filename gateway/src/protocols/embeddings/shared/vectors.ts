/** Writes vectors as base64 of little-endian 32-bit floats, as OpenAI's clients read them. */
import { CallFailure } from '../../../errors/call-failure.ts';
import { asObject, parseObject } from '../../json.ts';

/** The base64 form of one vector. */
function encodeVector(vector: readonly number[]): string {
  const bytes = Buffer.allocUnsafe(vector.length * 4);
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * 4);
  return bytes.toString('base64');
}

/** Null: not a list of numbers. */
function asVector(value: unknown): readonly number[] | null {
  return Array.isArray(value) && value.every((one) => typeof one === 'number') ? (value as number[]) : null;
}

const FIRST_VECTOR = /"embedding"\s*:\s*(.)/;
const START_BYTES = 4_096;

/**
 * The answer of a host that writes numbers, for a client that asked for base64. The same bytes where the vectors are
 * texts already. Throws CallFailure `upstream_malformed`.
 */
export function withBase64(body: Buffer): Buffer | string {
  // Members before the first vector are few: a text of 4,096 bytes without one is a long text, and is parsed.
  if (FIRST_VECTOR.exec(body.toString('latin1', 0, START_BYTES))?.[1] === '"') return body;
  const answer = parseObject(body.toString());
  if (answer === null || !Array.isArray(answer.data)) throw malformed('the answer has no list of embeddings');
  const data = answer.data.map((item: unknown) => {
    const { embedding, ...others } = asObject(item) ?? {};
    if (typeof embedding === 'string') return { ...others, embedding };
    const vector = asVector(embedding);
    if (vector === null) throw malformed('an embedding is no list of numbers');
    return { ...others, embedding: encodeVector(vector) };
  });
  return JSON.stringify({ ...answer, data });
}

/** Vectors in the client's form, in upstream's order. Throws CallFailure `upstream_malformed`. */
export function listOfVectors(vectors: readonly unknown[], isBase64: boolean): readonly object[] {
  if (vectors.length === 0) throw malformed('the answer has no embeddings');
  return vectors.map((value, index) => {
    const vector = asVector(value);
    if (vector === null) throw malformed('an embedding is no list of numbers');
    return { object: 'embedding', index, embedding: isBase64 ? encodeVector(vector) : vector };
  });
}

function malformed(why: string): CallFailure {
  return new CallFailure('upstream_malformed', `the model provider sent an invalid answer: ${why}`);
}
