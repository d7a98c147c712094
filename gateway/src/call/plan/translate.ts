/**
 * Translates a call to an upstream of another format, and its answer back to the client's format, through the canonical
 * format. Also retries a refused translation without the refused part.
 */

import { CallFailure } from '../../errors/call-failure.ts';
import { chainFilters, type EventPipe, type GenerationEvent } from '../../generation/event.ts';
import { extractJson, isNoJson } from '../../generation/filters/extract-json.ts';
import { restoreTools, unwrapOutputTool } from '../../generation/filters/restore-tools.ts';
import { splitThoughts } from '../../generation/filters/split-thoughts.ts';
import { stopAtTexts } from '../../generation/filters/stop-texts.ts';
import { type Generation, GenerationFold, unfoldGeneration } from '../../generation/generation.ts';
import { MEDIA_TYPES, type Part } from '../../generation/part.ts';
import type { GenerationRequest, Turn } from '../../generation/request.ts';
import { collectSummary } from '../../generation/summarize.ts';
import type { UpstreamError } from '../../protocols/answer/error-body.ts';
import { TranslatingObserver } from '../../protocols/answer/translating-observer.ts';
import type { AnswerContext, GenerationClient, StreamRenderer } from '../../protocols/client-protocol.ts';
import { LOST_SIGNATURE, packSignature } from '../../protocols/host-data.ts';
import { findRefusedMember, refusesSchemas } from '../../protocols/refused-member.ts';
import type { ToolNames } from '../../protocols/request/tool-names.ts';
import { startTranslationNotes } from '../../protocols/request/translation-notes.ts';
import type { GenerationUpstream, RenderedRequest, StreamParser } from '../../protocols/upstream-protocol.ts';
import type { UpstreamTraits } from '../../protocols/upstream-traits.ts';
import type { CollectedAnswer } from '../attempt/collect-answer.ts';
import { isReturned } from './kept-reasoning.ts';
import { omissible, requestWithout, traitsWithout } from './refused-members.ts';
import {
  type Folding,
  type NextAttempt,
  refusesUsageOption,
  type Translation,
  type UpstreamCall,
  USAGE_OPTION,
  unknownOption,
} from './upstream-call.ts';

/** The inputs of a translated call. */
export interface TranslationPlan {
  readonly client: GenerationClient;
  readonly upstream: GenerationUpstream;
  readonly traits: UpstreamTraits;
  /** The caller's key refuses requests from which something would be dropped. */
  readonly strict: boolean;
  /** Parsed from the client's bytes, with reasoning restored or left out as its issuer requires. */
  readonly request: GenerationRequest;
  /** Upstream's members that are left out because upstream refuses them. */
  readonly refuses: readonly string[];
  /** Already sent again without a member that upstream's refusal named. */
  readonly resent?: true;
  /** Upstream streams an answer that the client gets in one piece. */
  readonly folds: boolean;
  /** Dropped while the request was parsed. */
  readonly dropped: readonly string[];
  readonly context: AnswerContext;
  /** Receives every event of an answer that goes to the client; called once for each answer. */
  startListening(): (event: GenerationEvent) => void;
}

/** Renders the request in upstream's format. Throws CallFailure `invalid_request` for features that it cannot carry. */
export function translate(plan: TranslationPlan): UpstreamCall {
  const { client, upstream, traits, context } = plan;
  const notes = startTranslationNotes(plan.strict);
  const request = requestWithout(plan.request, plan.refuses, upstream, notes);
  const rendered = upstream.renderRequest(request, traits, notes);
  const translation: Translation = {
    client,
    context,
    readAnswer: (body) => pipeOf(rendered, request).pipe(upstream.parseAnswer(body)),
    lossesIn: (generation) => lossesIn(generation, plan.request, rendered, client.showsImages === true),
    listen(generation) {
      if (!generation.parts.some(isKept)) return;
      const onEvent = plan.startListening();
      for (const event of unfoldGeneration(generation)) onEvent(event);
    },
  };
  return {
    protocol: upstream,
    body: Buffer.from(rendered.json),
    form: null,
    translation,
    renderAnswer: null,
    dropped: [...plan.dropped, ...notes.dropped],
    startObserver() {
      const { pipe, isEmpty, readsText } = pipeOf(rendered, request);
      return new TranslatingObserver({
        parser: upstream.startStreamParser(),
        filter: isEmpty ? null : pipe,
        filtersText: readsText,
        renderer: client.startStreamRenderer(context),
        deltaMembers: upstream.deltaMembers,
        onEvent: plan.startListening(),
      });
    },
    startFolding: plan.folds
      ? () => foldTranslated(upstream.startStreamParser(), pipeOf(rendered, request).pipe, translation)
      : null,
    nextAttemptAfter: (answer) => nextAttemptAfter(plan, rendered.json, answer),
  };
}

/**
 * Parts of the request that the answer does not honor and parts of the answer that cannot be carried, in the caller's
 * terms.
 */
function lossesIn(
  generation: Generation,
  { named }: GenerationRequest,
  { extractsJson }: RenderedRequest,
  showsImages: boolean,
): string[] {
  const losses = generation.finish_reason === 'pause' ? ['pause_turn'] : [];
  if (generation.reported === 'compaction') losses.push('compaction');
  for (const part of generation.parts) {
    if (part.kind === 'opaque' && part.imageUrl !== undefined && showsImages) continue;
    if (part.kind === 'opaque' && MEDIA_TYPES.has(part.type) && !losses.includes(part.type)) losses.push(part.type);
  }
  if (extractsJson && isNoJson(generation)) losses.push(named.output_format ?? 'output_format');
  return losses;
}

/** Whether the issuer may want the part back. */
function isKept(part: Part): boolean {
  return isReturned(part) || part.kind === 'reasoning' || (part.kind === 'tool_call' && part.host_data !== undefined);
}

/** The filters that undo, search for or check something in the answer, nearest to upstream first. */
function pipeOf(
  { tools, outputTool, extractsJson, thinkTags = false, stopTexts }: RenderedRequest,
  { summarizes }: GenerationRequest,
) {
  const readsText = extractsJson || thinkTags || stopTexts.length > 0 || summarizes === true;
  const filters = [
    ...(thinkTags ? [splitThoughts()] : []),
    ...(isRestored(tools) ? [restoreTools(tools.restored, tools.custom, tools.ownArguments)] : []),
    ...(outputTool === null ? [] : [unwrapOutputTool(outputTool)]),
    ...(stopTexts.length === 0 ? [] : [stopAtTexts(stopTexts)]),
    ...(extractsJson ? [extractJson()] : []),
    ...(summarizes ? [collectSummary()] : []),
  ];
  const pipe: EventPipe = chainFilters(filters);
  return { pipe, isEmpty: filters.length === 0, readsText };
}

function isRestored({ restored, custom, ownArguments }: ToolNames): boolean {
  return restored.size + custom.size + (ownArguments?.size ?? 0) > 0;
}

function nextAttemptAfter(plan: TranslationPlan, sent: string, answer: CollectedAnswer): NextAttempt | null {
  const { traits, request } = plan;
  if (traits.chat.usageOption && plan.upstream.reportsUsageOnRequest && request.stream && refusesUsageOption(answer)) {
    const without = { ...traits, chat: { ...traits.chat, usageOption: false } };
    const why = 'refuses stream_options.include_usage: sent again without';
    const dropped = [...plan.dropped, USAGE_OPTION];
    return {
      call: translate({ ...plan, traits: without, dropped }),
      why,
      unknownMember: unknownOption(plan.upstream, answer),
    };
  }
  const isSigned = request.turns.some(({ parts }) =>
    parts.some(({ kind }) => kind === 'reasoning' || kind === 'tool_call'),
  );
  const error = plan.upstream.readError(answer.body, answer.head.headers);
  const { condition, message } = error;
  if (condition === 'other') return withoutRefused(plan, sent, answer.head.status, error);
  if (!isSigned || condition !== 'signature') return null;
  const call = translateIfAllowed({ ...plan, request: withoutSignatures(request, OF_CALLS.test(message)) });
  if (call === null || Buffer.compare(call.body, Buffer.from(sent)) === 0) return null;
  return { call, why: 'refuses a signature in the history, or the want of one: sent again without' };
}

/**
 * Retries after a refusal of an optional member that the gateway rendered, without the member. Contract, 10.4. Null:
 * the refusal names no such member, or nothing can be left out.
 */
function withoutRefused(plan: TranslationPlan, sent: string, status: number, error: UpstreamError): NextAttempt | null {
  if (plan.resent || (status !== 400 && status !== 422) || error.trouble !== null) return null;
  const { upstream, traits } = plan;
  if (refusesSchemas(error)) return withoutSchemas(plan, sent);
  const refused = findRefusedMember(error, omissible(upstream));
  if (refused === null) return null;
  const { why } = refused;
  // If two members exclude each other, `temperature` stays.
  const isPair = refused.member === 'temperature' && plan.request.top_p !== null && error.message.includes('top_p');
  const member = isPair ? 'top_p' : refused.member;
  const isLimit = member === traits.chat.outputLimitMember;
  // The caller has to lower a limit that is too high for the host.
  if (isLimit && why === 'value') return null;
  const learned = { traits: traitsWithout(traits, member), refuses: [...plan.refuses, member] };
  const call = translateIfAllowed({ ...plan, ...learned, resent: true });
  if (call === null || Buffer.compare(call.body, Buffer.from(sent)) === 0) return null;
  return {
    call,
    why: isLimit ? `does not know ${member}: sent again with the other limit` : `refuses ${member}: sent again without`,
    learned,
    unknownMember: why === 'unknown' ? member : undefined,
  };
}

/** The answer's form goes through a tool, and tools are not strict, which is reported. */
function withoutSchemas(plan: TranslationPlan, sent: string): NextAttempt | null {
  const { traits, refuses } = plan;
  const learned = { traits: { ...traits, takes: { ...traits.takes, structured_output: false } }, refuses };
  const call = translateIfAllowed({ ...plan, ...learned, resent: true });
  if (call === null || Buffer.compare(call.body, Buffer.from(sent)) === 0) return null;
  return { call, why: 'cannot hold an answer to these schemas: sent again without', learned };
}

/** Null: a strict key does not allow the losses of this attempt. */
function translateIfAllowed(plan: TranslationPlan): UpstreamCall | null {
  try {
    return translate(plan);
  } catch (error) {
    if (error instanceof CallFailure) return null;
    throw error;
  }
}

/** Google's message for a call whose signature is missing or wrong. */
const OF_CALLS = /\bthought.?signature\b/i;

/** Removes reasoning and host data; if calls must be signed, adds the placeholder for a lost signature. */
function withoutSignatures(request: GenerationRequest, signsCalls: boolean): GenerationRequest {
  return { ...request, turns: request.turns.map((turn) => withoutSignature(turn, signsCalls)) };
}

function withoutSignature(turn: Turn, signsCalls: boolean): Turn {
  let isFirst = signsCalls;
  const parts = turn.parts.flatMap((part): Part[] => {
    if (part.kind === 'reasoning') return [];
    if (part.kind !== 'tool_call') return [part];
    const { host_data: _, ...call } = part;
    const data = isFirst ? { host_data: packSignature(LOST_SIGNATURE) } : {};
    // Only the first of parallel calls is signed.
    isFirst = false;
    return [{ ...call, ...data }];
  });
  return { ...turn, parts };
}

/** The client gets no stream. */
const SILENT: StreamRenderer = { push: () => '', skipped: () => undefined, finish_reason: null, violation: null };

export function foldTranslated(parser: StreamParser, filter: EventPipe, translation: Translation): Folding {
  const fold = new GenerationFold();
  const openParts = new Set<number>();
  let isFinished = false;
  const observer = new TranslatingObserver({
    parser,
    filter(events) {
      for (const event of events) {
        if (event.kind === 'part_start') openParts.add(event.part);
        else if (event.kind === 'part_end') openParts.delete(event.part);
        else if (event.kind === 'finish') isFinished = true;
      }
      return filter(events);
    },
    filtersText: true,
    renderer: SILENT,
    deltaMembers: [],
    onEvent: (event) => fold.push(event),
  });
  return {
    observer,
    take: () => undefined,
    finish(cut) {
      if (cut !== null) {
        for (const event of filter(endOfCut(openParts, isFinished))) fold.push(event);
        fold.push({ kind: 'usage', usage: cut });
      }
      const generation = fold.result();
      const { json, finish_reason } = translation.client.renderAnswer(generation, translation.context);
      translation.listen(generation);
      return { json, finish_reason, dropped: translation.lossesIn(generation) };
    },
  };
}

/** Ends an answer that was cut, with `length` as its finish reason if it has none. */
function endOfCut(openParts: ReadonlySet<number>, isFinished: boolean): readonly GenerationEvent[] {
  const ends = [...openParts].map((part): GenerationEvent => ({ kind: 'part_end', part }));
  if (isFinished) return [...ends, { kind: 'end' }];
  const finish = { finish_reason: 'length', stop_sequence: null, reported: null, explanation: null } as const;
  return [...ends, { kind: 'finish', ...finish }, { kind: 'end' }];
}
