/** Owns naming the flag that a problem of the environment came from: flags of `serve` go in as their variables. */
import type { ConfigProblem } from '../config/config-problem.ts';

/** The problem with the flag that was given in the variable's place; any other as it is. */
export function nameFlag(
  problem: ConfigProblem,
  flags: { readonly host?: string | undefined; readonly port?: string | undefined },
): ConfigProblem {
  const given = { HOST: flags.host, PORT: flags.port }[problem.path];
  if (problem.source !== 'environment' || given === undefined) return problem;
  const flag = `--${problem.path.toLowerCase()}`;
  return { ...problem, source: 'command line', path: flag, advice: `Correct ${flag}.` };
}
