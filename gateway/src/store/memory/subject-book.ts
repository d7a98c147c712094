/**
 * Stores the in-memory state of each subject and drops idle ones, since the number of end users is unbounded. Decides
 * on no call.
 */

import { type Bucket, levelAt } from '../../admission/gcra.ts';
import { SUBJECT_KINDS, type Subject, type SubjectKind } from '../ports/limits.ts';
import { ConstraintViolation } from '../ports/store-errors.ts';
import type { WindowState } from './budget-window.ts';

/** Mutable by the limit store. */
export interface SubjectState {
  requests: Bucket | null;
  tokens: Bucket | null;
  /** Running calls. */
  running: number;
  readonly windows: WindowState[];
  usedAtMs: number;
}

/** Longer than a claim takes, and about as long as a per-minute limit takes to replenish. */
const KEPT_MS = 60_000;
/** Settled spend can be seeded again; after this time the ledger surely has it. */
const SETTLED_KEPT_MS = 600_000;

/** Each new subject triggers a check of this many others, so idle subjects never accumulate. */
const LOOKS_PER_NEW = 3;

export interface SubjectBook {
  /** Returns the subject's state; creates it where missing. */
  open(subject: Subject, nowMs: number): SubjectState;
  /** As `open`, for a subject that possibly no call has named yet: it is kept until its first call. */
  expect(subject: Subject): SubjectState;
  find(subject: Subject): SubjectState | undefined;
  /** States of the given kind and layer whose id begins with the given id. */
  below(prefix: Subject): Iterable<SubjectState>;
  /**
   * Checks up to `looks` subjects of each kind, continuing where the last check stopped, and drops idle subjects whose
   * rate limits are fully replenished.
   */
  forgetIdle(nowMs: number, looks: number): void;
  size(): number;
}

interface Shelf {
  readonly states: Map<string, SubjectState>;
  hand: MapIterator<[string, SubjectState]>;
  /**
   * True for end users, whose number is unbounded. All other subjects are named by the operator, and reading their
   * spend again takes time.
   */
  readonly forgetsSettled: boolean;
}

export function createSubjectBook(): SubjectBook {
  const shelvesOf = () =>
    new Map<SubjectKind, Shelf>(SUBJECT_KINDS.map((kind) => [kind, newShelf(kind === 'end_user')]));
  const [operators, accounts] = [shelvesOf(), shelvesOf()];
  const shelves = [...operators.values(), ...accounts.values()];
  const shelfOf = ({ kind, layer }: Subject): Shelf => {
    const shelf = (layer === 'account' ? accounts : operators).get(kind);
    if (shelf === undefined)
      throw new ConstraintViolation('invalid', `found a subject of kind ${kind}, expected ${SUBJECT_KINDS.join(', ')}`);
    return shelf;
  };
  return {
    open(subject, nowMs) {
      const { id } = subject;
      const shelf = shelfOf(subject);
      const known = shelf.states.get(id);
      if (known !== undefined) return known;
      look(shelf, nowMs, LOOKS_PER_NEW);
      return add(shelf, id, nowMs);
    },
    expect(subject) {
      const { id } = subject;
      const shelf = shelfOf(subject);
      return shelf.states.get(id) ?? add(shelf, id, Number.POSITIVE_INFINITY);
    },
    find: (subject) => shelfOf(subject).states.get(subject.id),
    *below(prefix) {
      for (const [id, state] of shelfOf(prefix).states) if (id.startsWith(prefix.id)) yield state;
    },
    forgetIdle(nowMs, looks) {
      for (const shelf of shelves) look(shelf, nowMs, Math.min(looks, shelf.states.size));
    },
    size: () => shelves.reduce((sum, { states }) => sum + states.size, 0),
  };
}

function newShelf(forgetsSettled: boolean): Shelf {
  const states = new Map<string, SubjectState>();
  return { states, hand: states.entries(), forgetsSettled };
}

function add({ states }: Shelf, id: string, usedAtMs: number): SubjectState {
  const state: SubjectState = { requests: null, tokens: null, running: 0, windows: [], usedAtMs };
  states.set(id, state);
  return state;
}

function look(shelf: Shelf, nowMs: number, looks: number): void {
  for (let left = looks; left > 0; left--) {
    const next = shelf.hand.next();
    if (next.done === true) {
      shelf.hand = shelf.states.entries();
      continue;
    }
    const [id, state] = next.value;
    if (isIdleAndWhole(state, nowMs) && (shelf.forgetsSettled || state.windows.length === 0)) shelf.states.delete(id);
  }
}

function isIdleAndWhole({ running, requests, tokens, windows, usedAtMs }: SubjectState, nowMs: number): boolean {
  if (running > 0 || !isWhole(requests, nowMs) || !isWhole(tokens, nowMs)) return false;
  return nowMs - usedAtMs >= (windows.length === 0 ? KEPT_MS : SETTLED_KEPT_MS);
}

function isWhole(bucket: Bucket | null, nowMs: number): boolean {
  return bucket === null || levelAt(bucket, bucket.limit, nowMs) === 0;
}
