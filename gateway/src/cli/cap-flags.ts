/** Owns the flags that set caps, for every command that has them: their words, and what they become as arguments. */
import { type Command, InvalidArgumentError } from 'commander';
import { LIFTED, type Lifted, orNull, parseCount } from './argument-parsers.ts';

/** The flags as they were parsed; `none` lifts a cap. */
export interface CapFlags {
  readonly rpm?: number | Lifted;
  readonly tpm?: number | Lifted;
  readonly concurrency?: number | Lifted;
  readonly budgetUsd?: string | Lifted;
  readonly budgetWindow?: string;
}

const COUNT_MAX = 999_999_999;

/** Adds the flags to a command. `of`: whom the caps bind, as the help says it. */
export function addCapFlags(command: Command, of: string): Command {
  return command
    .option('--rpm <count>', `requests per minute ${of}, or none`, parseCap)
    .option('--tpm <count>', `tokens per minute ${of}, or none`, parseCap)
    .option('--concurrency <count>', `calls at once ${of}, or none`, parseCap)
    .option('--budget-usd <amount>', `what calls ${of} may cost in its window, in USD, or none`, parseAmount)
    .option('--budget-window <window>', 'of the budget: day, week, month or total (default: total)');
}

/** The flags in the words of a command's arguments; what was not given stays out. */
export function capArguments(flags: CapFlags): object {
  return {
    rpm: orNull(flags.rpm),
    tpm: orNull(flags.tpm),
    concurrency: orNull(flags.concurrency),
    budget_usd: orNull(flags.budgetUsd),
    budget_window: flags.budgetWindow,
  };
}

function parseCap(text: string): number | Lifted {
  if (text === 'none') return LIFTED;
  try {
    return parseCount(COUNT_MAX)(text);
  } catch (fault) {
    if (!(fault instanceof InvalidArgumentError)) throw fault;
    throw new InvalidArgumentError(`${fault.message.replace(/\.$/, '')}, or none.`);
  }
}

/** The amount stays text until the command reads it exactly. */
function parseAmount(text: string): string | Lifted {
  return text === 'none' ? LIFTED : text;
}
