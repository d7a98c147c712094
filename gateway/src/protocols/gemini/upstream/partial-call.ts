/**
 * Puts together a call whose arguments Vertex streams in pieces, each with a JSON path. The gateway does not ask for this
 * form; a host that sends it anyway is read. https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/function-calling,
 * read 2026-11-22.
 */
import { asArray, asObject, asText, type JsonObject } from '../../json.ts';

/** More levels than any arguments have. */
const DEPTH_MAX = 100;

type Container = Record<string, unknown> | unknown[];

/** A step of `$.a['b'][0]`: a dotted name, a quoted one, or an index. */
const STEP = /\.([^.[\]]+)|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]|\[(\d{1,5})\]/y;

export class PartialCall {
  readonly #root: Container = Object.create(null);
  /** The path of a text that goes on in the next piece. */
  #openPath: string | null = null;
  /** That of the piece which has one. */
  signature: string | null = null;

  constructor(
    readonly name: string,
    readonly id: string | null,
  ) {}

  /** The arguments so far. */
  get json(): string {
    return JSON.stringify(this.#root);
  }

  /** Takes the `partialArgs` of a piece; false: they fit no arguments. */
  push(partialArgs: unknown): boolean {
    return asArray(partialArgs).every((piece) => this.#set(asObject(piece) ?? {}));
  }

  #set(piece: JsonObject): boolean {
    const steps = stepsOf(asText(piece.jsonPath) ?? '');
    const last = steps?.pop();
    if (steps === null || last === undefined) return false;
    let holder: Container = this.#root;
    for (const [index, step] of steps.entries()) {
      const next = typeof (steps[index + 1] ?? last) === 'number' ? [] : Object.create(null);
      const inner = write(holder, step, (before) => (isContainer(before) ? before : next));
      if (!isContainer(inner)) return false;
      holder = inner;
    }
    const path = String(piece.jsonPath);
    const goesOn = this.#openPath === path;
    this.#openPath = piece.willContinue === true ? path : null;
    const value = readValue(piece);
    const join = (before: unknown) => (goesOn && typeof before === 'string' ? `${before}${String(value)}` : value);
    return write(holder, last, join) !== undefined;
  }
}

function readValue({ stringValue, numberValue, boolValue }: JsonObject): string | number | boolean | null {
  if (typeof stringValue === 'string') return stringValue;
  if (typeof numberValue === 'number') return numberValue;
  return typeof boolValue === 'boolean' ? boolValue : null;
}

/** Null: not such a path. */
function stepsOf(path: string): Array<string | number> | null {
  if (!path.startsWith('$')) return null;
  const steps: Array<string | number> = [];
  for (STEP.lastIndex = 1; STEP.lastIndex < path.length; ) {
    const found = STEP.exec(path);
    if (found === null || steps.length === DEPTH_MAX) return null;
    const [, dotted, single, double, index] = found;
    steps.push(index === undefined ? (dotted ?? single ?? double ?? '').replaceAll(/\\(.)/g, '$1') : Number(index));
  }
  return steps;
}

function isContainer(value: unknown): value is Container {
  return typeof value === 'object' && value !== null;
}

/**
 * Sets a member or element to what `choose` makes of the value before it; undefined: the step does not fit. Elements come
 * in order: a gap would be filled by as many nulls.
 */
function write(holder: Container, step: string | number, choose: (before: unknown) => unknown): unknown {
  if (Array.isArray(holder) !== (typeof step === 'number')) return undefined;
  if (Array.isArray(holder) && Number(step) > holder.length) return undefined;
  const members = holder as Record<string | number, unknown>;
  members[step] = choose(members[step]);
  return members[step];
}
