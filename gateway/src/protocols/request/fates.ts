/**
 * Owns the words for what becomes of a request's members on a translated route. Each format's tables use them; the
 * documentation page is made from the tables, and a test holds the codecs to them.
 */
import type { Feature } from '../../generation/request.ts';

/** `emulated`: asked for in another way, with the same effect. `dropped`: named in `x-tollgate-dropped`; refused under a strict key. */
export type Fate = 'carried' | 'emulated' | 'dropped' | 'refused';

/** One member of a format's request, as its client's side reads it. */
export interface MemberRow {
  readonly member: string;
  /** What it is in the canonical request: `turns`, `model` and `stream` are always carried; null: nothing, `fate` is its end. */
  readonly becomes: Feature | 'turns' | 'model' | 'stream' | null;
  /** Null where it becomes something: then the upstream's format decides. */
  readonly fate: Fate | null;
  /** The condition or the reason, in a few words. */
  readonly note: string;
}

/** What a format does, as upstream, with each feature of a canonical request. */
export type FeatureFates = { readonly [feature in Feature]: { readonly fate: Fate; readonly note: string } };
