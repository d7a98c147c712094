/** Owns sending a call to an upstream of another format, and telling its answer in the client's: through the canonical language. */
import { CallFailure } from '../errors/call-failure.ts';
import type { GenerationEvent } from '../generation/event.ts';
import { chainFilters, type EventPipe } from '../generation/filters/chain.ts';
import { extractJson, isNoJson } from '../generation/filters/extract-json.ts';
import { unwrapOutputTool } from '../generation/filters/output-tool.ts';
import { restoreTools } from '../generation/filters/restore-tools.ts';
import { stopAtTexts } from '../generation/filters/stop-texts.ts';
import type { Generation } from '../generation/generation.ts';
import type { GenerationRequest } from '../generation/request.ts';
import { unfoldGeneration } from '../generation/unfold.ts';
import type { AnswerContext, RenderedRequest } from '../protocols/codec.ts';
import type { Protocol } from '../protocols/protocol.ts';
import { TranslatingObserver } from '../protocols/translating-observer.ts';
import { startNotes } from '../protocols/translation-notes.ts';
import type { UpstreamTraits } from '../protocols/upstream-traits.ts';
import type { CollectedAnswer } from './collect-answer.ts';
import { foldTranslated } from './fold-translated.ts';
import { refusesUsageOption, type Translation, type UpstreamCall } from './upstream-call.ts';

/** What a translated call is made from. */
export interface TranslationPlan {
  readonly client: Protocol;
  readonly upstream: Protocol;
  readonly traits: UpstreamTraits;
  /** The caller's key refuses what would be dropped. */
  readonly strict: boolean;
  /** Read from the client's bytes, with reasoning put back or left out as its issuer wants it. */
  readonly request: GenerationRequest;
  /** Upstream is to stream what the client gets in one piece. */
  readonly folds: boolean;
  /** Dropped already while it was read. */
  readonly dropped: readonly string[];
  readonly context: AnswerContext;
  /** Told every event of an answer as it goes to the client; made anew for each answer. */
  startListening(): ((event: GenerationEvent) => void) | null;
}

/** By which members a format gives the text of a delta. */
const DELTA_MEMBERS = { chat: ['content', 'reasoning_content', 'reasoning'], messages: ['text', 'thinking'] } as const;

/** Writes the request in upstream's format. Throws CallFailure `invalid_request` for what it cannot carry. */
export function translate(plan: TranslationPlan): UpstreamCall {
  const { client, upstream, traits, context } = plan;
  const notes = startNotes(plan.strict);
  const rendered = upstream.codec.renderRequest(plan.request, traits, notes);
  const translation: Translation = {
    client,
    context,
    readAnswer: (body) => pipeOf(rendered).pipe(upstream.codec.parseAnswer(body)),
    lossesIn: (generation) => lossesIn(generation, plan.request, rendered),
    listen(generation) {
      if (!generation.parts.some(({ kind }) => kind === 'reasoning')) return;
      const onEvent = plan.startListening();
      if (onEvent !== null) for (const event of unfoldGeneration(generation)) onEvent(event);
    },
  };
  return {
    protocol: upstream,
    body: Buffer.from(rendered.json),
    translation,
    dropped: [...plan.dropped, ...notes.dropped],
    startObserver() {
      const { pipe, isEmpty, readsText } = pipeOf(rendered);
      return new TranslatingObserver({
        parser: upstream.codec.startStreamParser(),
        filter: isEmpty ? null : pipe,
        filtersText: readsText,
        renderer: client.codec.startStreamRenderer(context),
        deltaMembers: DELTA_MEMBERS[upstream.name],
        onEvent: plan.startListening(),
      });
    },
    startFolding: plan.folds
      ? () => foldTranslated(upstream.codec.startStreamParser(), pipeOf(rendered).pipe, translation)
      : null,
    insteadAfter: (answer) => insteadAfter(plan, answer),
  };
}

/** What of the request the answer does not keep, or of the answer cannot be carried, in the caller's words. */
function lossesIn(generation: Generation, { named }: GenerationRequest, { extractsJson }: RenderedRequest): string[] {
  const losses = generation.finish_reason === 'pause' ? ['pause_turn'] : [];
  if (extractsJson && isNoJson(generation)) losses.push(named.output_format ?? 'output_format');
  return losses;
}

/** What must be undone, looked for or checked in the answer, nearest to upstream first. */
function pipeOf({ tools, outputTool, extractsJson, stopTexts }: RenderedRequest) {
  const readsText = extractsJson || stopTexts.length > 0;
  const filters = [
    ...(outputTool === null ? [] : [unwrapOutputTool(outputTool)]),
    ...(tools.restored.size + tools.custom.size === 0 ? [] : [restoreTools(tools.restored, tools.custom)]),
    ...(stopTexts.length === 0 ? [] : [stopAtTexts(stopTexts)]),
    ...(extractsJson ? [extractJson()] : []),
  ];
  const pipe: EventPipe = chainFilters(filters);
  return { pipe, isEmpty: filters.length === 0, readsText };
}

function insteadAfter(plan: TranslationPlan, answer: CollectedAnswer): ReturnType<UpstreamCall['insteadAfter']> {
  const { traits, request } = plan;
  if (traits.chat.usageOption && plan.upstream.name === 'chat' && request.stream && refusesUsageOption(answer)) {
    const without = { ...traits, chat: { ...traits.chat, usageOption: false } };
    const why = 'refuses stream_options.include_usage: sent again without';
    return { call: translate({ ...plan, traits: without }), why };
  }
  const hasReasoning = request.turns.some(({ parts }) => parts.some(({ kind }) => kind === 'reasoning'));
  if (!hasReasoning || plan.upstream.codec.readError(answer.body).condition !== 'signature') return null;
  const call = translateIfAllowed({ ...plan, request: withoutReasoning(request) });
  return call && { call, why: 'refuses a signature in the history: sent again without reasoning' };
}

/** Null: a strict key does not allow to lose what this attempt would have to. */
function translateIfAllowed(plan: TranslationPlan): UpstreamCall | null {
  try {
    return translate(plan);
  } catch (error) {
    if (error instanceof CallFailure) return null;
    throw error;
  }
}

function withoutReasoning(request: GenerationRequest): GenerationRequest {
  const turns = request.turns.map((turn) => ({
    ...turn,
    parts: turn.parts.filter(({ kind }) => kind !== 'reasoning'),
  }));
  return { ...request, turns };
}
