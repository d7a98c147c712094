/** Parses name patterns of models, separated by commas, spaces or lines. The gateway matches them. */

export interface ModelsDraft {
  /** False: all models. */
  readonly restricted: boolean;
  readonly text: string;
}

export function draftModels(models: readonly string[] | null): ModelsDraft {
  return { restricted: models !== null, text: models?.join('\n') ?? '' };
}

/** Unique patterns in the order typed. */
export function readPatterns(text: string): readonly string[] {
  return [...new Set(text.split(/[\s,]+/).filter((pattern) => pattern !== ''))];
}

/** The value to send; `fault`: restricted, but without a pattern. */
export function readModels({ restricted, text }: ModelsDraft): { models: string[] | null; fault: string | null } {
  if (!restricted) return { models: null, fault: null };
  const models = [...readPatterns(text)];
  return {
    models,
    fault: models.length === 0 ? 'Enter at least one model or pattern, such as gpt-5*, or allow all models.' : null,
  };
}

/** Short form for a table: `All`, `gpt-5*`, `gpt-5*, claude-* +3`. */
export function modelsText(models: readonly string[] | null): string {
  if (models === null) return 'All';
  const more = models.length - 2;
  return models.slice(0, 2).join(', ') + (more > 0 ? ` +${more}` : '');
}
