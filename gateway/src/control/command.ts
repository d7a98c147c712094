/** Owns what an administrative command is, what it works on, and how it answers. Knows no single command and no socket. */
import type { z } from 'zod';
import type { KeyDirectory } from '../identity/key-directory.ts';
import type { PolicyStore } from '../store/ports.ts';

/** What commands work on: first what is on disk, then what is in memory. */
export interface ControlContext {
  readonly policies: PolicyStore;
  readonly directory: KeyDirectory;
  /** The present, unix ms. */
  nowMs(): number;
}

/** A value that JSON carries whole. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [member: string]: Json };

/** `usage`: asked for wrongly. `failed`: what was asked cannot be done. The message says what to do. */
export type ControlReply =
  | { readonly ok: true; readonly result: Json }
  | { readonly ok: false; readonly kind: 'usage' | 'failed'; readonly message: string };

/** A command with its arguments already checked: takes the context and raw arguments. */
export type ControlCommand = (context: ControlContext, rawArguments: unknown) => Promise<ControlReply>;

/** Thrown by a command's work where it cannot be done; the message names what was found and what to do. */
export class CommandFailure extends Error {}

/** A command of its arguments' shape and its work. What does not fit the shape never reaches the work. */
export function defineCommand<Shape extends z.ZodType>(
  shape: Shape,
  work: (context: ControlContext, given: z.output<Shape>) => Promise<Json>,
): ControlCommand {
  return async (context, rawArguments) => {
    const given = shape.safeParse(rawArguments);
    if (!given.success) return { ok: false, kind: 'usage', message: given.error.issues.map(renderIssue).join('\n') };
    try {
      return { ok: true, result: await work(context, given.data) };
    } catch (fault) {
      if (fault instanceof CommandFailure) return { ok: false, kind: 'failed', message: fault.message };
      throw fault;
    }
  };
}

function renderIssue(issue: z.core.$ZodIssue): string {
  return issue.path.length === 0 ? issue.message : `${issue.path.map(String).join('.')}: ${issue.message}`;
}
