/** Collects the stop reason and usage of a response from a message and its deltas: later values overwrite. */
import { type GenerationEvent, usageEvent } from '../../../generation/event.ts';
import { asObject, asText, type JsonObject } from '../../json.ts';
import { parseStopReason } from '../shared/stop-reasons.ts';
import { EMPTY_TALLY, reportedUsageOf, tallyUsage } from '../shared/usage.ts';

export class FinishParser {
  #tally = EMPTY_TALLY;
  #reported: string | null = null;
  #stopSequence: string | null = null;
  #explanation: string | null = null;

  /** Takes the stop members of a message or delta, and its usage; returns the counters so far if they are valid. */
  push(reasons: JsonObject | null, usage: unknown): readonly GenerationEvent[] {
    this.#reported = asText(reasons?.stop_reason) ?? this.#reported;
    this.#stopSequence = asText(reasons?.stop_sequence) ?? this.#stopSequence;
    this.#explanation = asText(asObject(reasons?.stop_details)?.explanation) ?? this.#explanation;
    if (asObject(usage) === null) return [];
    this.#tally = tallyUsage(this.#tally, usage);
    const reported = reportedUsageOf(this.#tally);
    return reported === null ? [] : [usageEvent(reported)];
  }

  finish(): GenerationEvent {
    return {
      kind: 'finish',
      finish_reason: parseStopReason(this.#reported),
      stop_sequence: this.#stopSequence,
      reported: this.#reported,
      explanation: this.#explanation,
    };
  }
}
