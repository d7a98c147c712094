/** Defines the pages of a provider's list of models. */

/** A model in a provider's own list. */
export interface OfferedModel {
  readonly model: string;
  /** The day from which the provider does not serve it, ISO. Absent: the list does not say. */
  readonly retiresOn?: string;
}

/** The query member that requests the next page, as the provider wrote it; null: there is no next page. */
export type NextPage = readonly [name: string, cursor: unknown] | null;

/** How the pages of a list are read. */
export interface ListPages {
  /** The models in a page, which is JSON; null: it is no list. Absent: `data[].id`. */
  read?(page: unknown): readonly OfferedModel[] | null;
  /** The page after a page. Absent: as OpenAI pages lists, `has_more` and `after`. */
  next?(page: unknown): NextPage;
}
