/** Owns telling the operator of tools that ran upstream without a fee: once for each model and kind. Charges nothing. */

/** Bounds what is remembered: kinds come from upstream. Beyond it everything is told anew. */
const REMEMBERED_MAX = 1_000;

/** The log, as far as it is needed. */
interface Warned {
  warn(about: object, message: string): void;
}

/** The function says what it has not said before. */
export function createTierTeller(log: Warned): (model: string, tier: string) => void {
  const told = new Set<string>();
  return (model, tier) => {
    const key = JSON.stringify([model, tier]);
    if (told.has(key)) return;
    if (told.size >= REMEMBERED_MAX) told.clear();
    told.add(key);
    log.warn(
      { model, tier, unpriced: true },
      `upstream answered with ${tier}, for which no price of this model is known: charged at the list price; give the model a price with modifiers`,
    );
  };
}

/** The function says what it has not said before. */
export function createUnpricedTeller(log: Warned): (model: string, kinds: readonly string[]) => void {
  const told = new Set<string>();
  return (model, kinds) => {
    for (const kind of kinds) {
      const key = JSON.stringify([model, kind]);
      if (told.has(key)) continue;
      if (told.size >= REMEMBERED_MAX) told.clear();
      told.add(key);
      log.warn(
        { model, server_tool: kind, unpriced: true },
        `upstream ran ${kind}, for which the price of this model has no fee: its requests are billed nothing; give the model a price with per_1000_requests (0 where they are free)`,
      );
    }
  };
}
