/** Owns writing where an answer ends and how it is sampled. */
import type { Feature } from '../../generation/request.ts';
import { refuseMember } from '../translation-notes.ts';
import { callerWord, type Draft, modelWord, type RenderContext } from './render-context.ts';

/** The most tokens of the answer, under the name that the host knows. */
export function renderOutputLimit(context: RenderContext): Draft {
  const asked = context.request.outputTokensMax;
  if (asked === null) return {};
  const word = callerWord(context, 'output_limit');
  if (asked === 0) throw refuseMember(word, `found 0; ${modelWord(context)} answers with at least 1 token`);
  const most = context.traits.outputTokensMax;
  const isOver = most !== null && asked > most;
  if (isOver) context.notes.drop(word, `found ${asked}; ${modelWord(context)} answers with at most ${most} tokens`);
  return { [context.traits.chat.outputLimitMember]: isOver ? most : asked };
}

/** Stop texts for upstream and, where it takes none, those that are ours to look for. */
export function renderStop(context: RenderContext): { readonly sent: Draft; readonly stopTexts: readonly string[] } {
  const { stop } = context.request;
  const most = context.traits.chat.stopMax;
  if (stop.length === 0) return { sent: {}, stopTexts: [] };
  if (most === 0) return { sent: {}, stopTexts: stop };
  if (stop.length > most) {
    throw refuseMember(
      callerWord(context, 'stop'),
      `found ${stop.length} texts; ${modelWord(context)} takes at most ${most}`,
    );
  }
  return { sent: { stop }, stopTexts: [] };
}

/** A value that only repeats the default asks for nothing, so nothing is lost without it. */
const DEFAULTS = { temperature: 1, top_p: 1, frequency_penalty: 0, presence_penalty: 0 } as const;

export function renderSampling(context: RenderContext): Draft {
  const { request, traits } = context;
  const sampling: Draft = {};
  for (const name of ['temperature', 'top_p', 'frequency_penalty', 'presence_penalty'] as const) {
    const value = request[name];
    if (value === null) continue;
    if (traits.chat.sampling) sampling[name] = value;
    else if (value !== DEFAULTS[name]) drop(name, context);
  }
  if (request.top_k !== null && traits.chat.top_k) sampling.top_k = request.top_k;
  else if (request.top_k !== null) drop('top_k', context);
  if (request.seed !== null) sampling.seed = request.seed;
  return sampling;
}

function drop(feature: Feature, context: RenderContext): void {
  context.notes.drop(callerWord(context, feature), `${modelWord(context)} does not take it`);
}
