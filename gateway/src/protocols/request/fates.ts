/**
 * Defines how request members are handled on a translated route. Each format's tables use these types; the
 * documentation page is generated from the tables, and a test checks the codecs against them.
 */
import type { Feature } from '../../generation/request.ts';

/** `emulated`: another way, same effect. `dropped`: named in `x-tollgate-dropped`; refused under a strict key. */
export type Fate = 'carried' | 'emulated' | 'dropped' | 'refused';

/** One member of a client's request in a format. */
export interface MemberRow {
  readonly member: string;
  /** Its canonical member; `turns`, `model` and `stream` are always carried. Null: none, `fate` applies. */
  readonly becomes: Feature | 'turns' | 'model' | 'stream' | null;
  /** Null if `becomes` is set: then the upstream's format decides. */
  readonly fate: Fate | null;
  /** The condition or the reason, in a few words. */
  readonly note: string;
}

/** How an upstream of a format handles each feature of a canonical request. */
export type FeatureFates = { readonly [feature in Feature]: { readonly fate: Fate; readonly note: string } };
