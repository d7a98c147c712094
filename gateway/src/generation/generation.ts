/**
 * Folds a response's events into a whole generation, and unfolds one into events. A response that arrives in one piece
 * is also read as events, so both kinds share one code path.
 */
import { type FinishReason, type GenerationEvent, type PartOpening, type TokenLogprob, usageEvent } from './event.ts';
import type { Citation, Native, Part, TextPart, ToolCallPart } from './part.ts';
import { NO_FLAGS, type Usage, type UsageFlag } from './usage.ts';

/** A response. `complete`: its source signaled the end. */
export interface Generation {
  readonly id: string | null;
  readonly model: string | null;
  readonly parts: readonly Part[];
  /** The tokens of the answer; absent: not reported. */
  readonly logprobs?: readonly TokenLogprob[];
  /** Null: it never finished. */
  readonly finish_reason: FinishReason | null;
  readonly stop_sequence: string | null;
  readonly reported: string | null;
  readonly explanation: string | null;
  readonly usage: Usage | null;
  readonly usageFlags: readonly UsageFlag[];
  readonly complete: boolean;
}

interface Draft {
  readonly opening: PartOpening;
  text: string;
  signature: string | null;
  readonly citations: Citation[];
  host_data: Native | null;
}

export class GenerationFold {
  #id: string | null = null;
  #model: string | null = null;
  readonly #drafts: Draft[] = [];
  readonly #logprobs: TokenLogprob[] = [];
  #finish: Extract<GenerationEvent, { kind: 'finish' }> | null = null;
  #usage: Usage | null = null;
  #usageFlags = NO_FLAGS;
  #complete = false;

  push(event: GenerationEvent): void {
    switch (event.kind) {
      case 'start':
        this.#id = event.id;
        this.#model = event.model;
        return;
      case 'part_start':
        this.#drafts[event.part] = {
          opening: event.opening,
          text: '',
          signature: null,
          citations: [],
          host_data: null,
        };
        return;
      case 'text_delta':
      case 'arguments_delta':
        this.#draft(event.part).text += event.text;
        return;
      case 'signature':
        this.#draft(event.part).signature = event.signature;
        return;
      case 'citation':
        this.#draft(event.part).citations.push(event.citation);
        return;
      case 'host_data':
        this.#draft(event.part).host_data = event.native;
        return;
      case 'logprobs':
        for (const token of event.tokens) this.#logprobs.push(token);
        return;
      case 'usage':
        this.#usage = event.usage;
        this.#usageFlags = event.flags ?? NO_FLAGS;
        return;
      case 'finish':
        this.#finish = event;
        return;
      case 'end':
        this.#complete = true;
    }
  }

  /** The response so far. */
  result(): Generation {
    return {
      id: this.#id,
      model: this.#model,
      parts: this.#drafts.map(finishPart),
      ...(this.#logprobs.length === 0 ? {} : { logprobs: this.#logprobs }),
      finish_reason: this.#finish?.finish_reason ?? null,
      stop_sequence: this.#finish?.stop_sequence ?? null,
      reported: this.#finish?.reported ?? null,
      explanation: this.#finish?.explanation ?? null,
      usage: this.#usage,
      usageFlags: this.#usageFlags,
      complete: this.#complete,
    };
  }

  #draft(part: number): Draft {
    const draft = this.#drafts[part];
    if (draft === undefined) throw new Error(`an event belongs to part ${part}, which has not begun`);
    return draft;
  }
}

function finishPart({ opening, text, signature, citations, host_data }: Draft): Part {
  switch (opening.kind) {
    case 'text':
      return withData({ kind: 'text', text, citations, cache_mark: null }, host_data);
    case 'refusal':
      return { kind: 'refusal', text };
    case 'reasoning':
      return { kind: 'reasoning', text, signature, redacted: opening.redacted, issuer: opening.issuer };
    case 'tool_call': {
      const { id, name, tool } = opening;
      return withData({ kind: 'tool_call', id, name, tool, arguments: text, cache_mark: null }, host_data);
    }
    case 'opaque':
      return opening.part;
  }
}

function withData<Kind extends TextPart | ToolCallPart>(part: Kind, host_data: Native | null): Kind {
  return host_data === null ? part : { ...part, host_data };
}

/** The generation that a list of events folds to. */
export function foldGeneration(events: Iterable<GenerationEvent>): Generation {
  const fold = new GenerationFold();
  for (const event of events) fold.push(event);
  return fold.result();
}

/**
 * Events in order, each part in one delta. Throws for parts that a response cannot have (results, media, documents).
 */
export function unfoldGeneration(generation: Generation): GenerationEvent[] {
  const { id, model, logprobs, finish_reason, stop_sequence, reported, explanation, usage } = generation;
  const events: GenerationEvent[] = [{ kind: 'start', id, model }];
  for (const [index, part] of generation.parts.entries()) events.push(...unfoldPart(index, part));
  if (logprobs !== undefined) events.push({ kind: 'logprobs', tokens: logprobs });
  if (finish_reason !== null) events.push({ kind: 'finish', finish_reason, stop_sequence, reported, explanation });
  if (usage !== null) events.push(usageEvent({ usage, flags: generation.usageFlags }));
  if (generation.complete) events.push({ kind: 'end' });
  return events;
}

function unfoldPart(index: number, part: Part): GenerationEvent[] {
  const events: GenerationEvent[] = [{ kind: 'part_start', part: index, opening: openingOf(part) }];
  if (part.kind === 'tool_call') {
    // Formats that carry the data apart from the call put it before the call.
    if (part.host_data !== undefined) events.push({ kind: 'host_data', part: index, native: part.host_data });
    if (part.arguments !== '') events.push({ kind: 'arguments_delta', part: index, text: part.arguments });
  } else if (part.kind !== 'opaque' && 'text' in part && part.text !== '') {
    events.push({ kind: 'text_delta', part: index, text: part.text });
  }
  if (part.kind === 'text' && part.host_data !== undefined) {
    events.push({ kind: 'host_data', part: index, native: part.host_data });
  }
  if (part.kind === 'text') {
    for (const citation of part.citations) events.push({ kind: 'citation', part: index, citation });
  }
  if (part.kind === 'reasoning' && part.signature !== null) {
    events.push({ kind: 'signature', part: index, signature: part.signature });
  }
  events.push({ kind: 'part_end', part: index });
  return events;
}

function openingOf(part: Part): PartOpening {
  switch (part.kind) {
    case 'text':
    case 'refusal':
      return { kind: part.kind };
    case 'reasoning':
      return { kind: 'reasoning', redacted: part.redacted, issuer: part.issuer };
    case 'tool_call':
      return { kind: 'tool_call', id: part.id, name: part.name, tool: part.tool };
    case 'opaque':
      return { kind: 'opaque', part };
    default:
      throw new Error(`a model's answer has no ${part.kind}`);
  }
}
