/** Owns what answering from blocks goes by: the question, where its sums are, and what collects them. */
import type { UsageQuestion } from '../../usage-port.ts';
import type { Deadline } from './deadline.ts';
import type { UsageGather } from './gather-usage.ts';
import type { RolledPart, RolledQuestion } from './read-blocks.ts';

export interface Rolling {
  readonly question: UsageQuestion;
  readonly rolled: RolledQuestion;
  readonly parts: readonly RolledPart[];
  readonly deadline: Deadline;
  /** Has what records say already, and takes what blocks say. */
  readonly gather: UsageGather;
}
