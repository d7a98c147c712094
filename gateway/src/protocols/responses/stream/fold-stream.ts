/**
 * Folds a Responses stream into the response that the same call would have got in one piece: that of the terminal event,
 * as written; of a stream that was cut, the items so far. An observer judges the records.
 */
import { CallFailure } from '../../../errors/call-failure.ts';
import { dataText, type StreamRecord } from '../../../framing/framing.ts';
import type { Usage } from '../../../generation/usage.ts';
import { memberText } from '../../exact-json.ts';
import { asObject, asText, type JsonObject, parseObject } from '../../json.ts';
import type { AnswerFold } from '../../upstream-protocol.ts';
import { renderUsage } from '../shared/usage.ts';
import { OWN_TEXT_EVENTS, PART_TEXT_EVENTS } from './stream-of-answer.ts';

/** A response has its own id and needs none from us. */
export function startFold(): AnswerFold {
  return new ResponsesFold();
}

/** An item under construction: its texts are joined from their pieces. */
type Draft = { [member: string]: unknown };

class ResponsesFold implements AnswerFold {
  #started: JsonObject | null = null;
  /** The response of the terminal event, as written. */
  #whole: string | null = null;
  /** By the place that upstream gives them, which may be any number. */
  readonly #items = new Map<unknown, Draft>();

  push(record: StreamRecord): void {
    const json = dataText(record);
    const event = parseObject(json);
    switch (event?.type) {
      case 'response.created':
        this.#started = asObject(event.response);
        return;
      case 'response.output_item.added':
      case 'response.output_item.done':
        this.#items.set(event.output_index, { ...asObject(event.item) });
        return;
      case 'response.completed':
      case 'response.incomplete':
        this.#whole = memberText(json, 'response');
        return;
      default:
        if (event !== null && typeof event.delta === 'string') this.#extend(event, event.delta);
    }
  }

  finish(cut: Usage | null): string {
    if (cut === null && this.#whole !== null) return this.#whole;
    if (cut === null || this.#started === null) {
      throw new CallFailure('upstream_malformed', 'the model provider sent an invalid answer: it has no response');
    }
    return JSON.stringify({
      ...this.#started,
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      output: [...this.#items.values()].map(cutItem),
      usage: renderUsage(cut),
    });
  }

  #extend({ type, output_index, content_index, summary_index }: JsonObject, delta: string): void {
    const item = this.#items.get(output_index);
    if (item === undefined) return;
    const own = OWN_TEXT_EVENTS.get(item.type);
    if (own !== undefined && type === `${own[0]}.delta`) {
      item[own[1]] = `${asText(item[own[1]]) ?? ''}${delta}`;
      return;
    }
    const [place, index] =
      content_index === undefined ? (['summary', summary_index] as const) : (['content', content_index] as const);
    const found = [...PART_TEXT_EVENTS].find(([, [name]]) => type === `${name}.delta`);
    const parts = Array.isArray(item[place]) ? item[place] : [];
    if (found === undefined || typeof index !== 'number' || !(index === parts.length || index in parts)) return;
    const [partType, [, member]] = found;
    const part = asObject(parts[index]) ?? { type: partType, ...(partType === 'output_text' && { annotations: [] }) };
    parts[index] = { ...part, [member]: `${asText(part[member]) ?? ''}${delta}` };
    item[place] = parts;
  }
}

/** An item that had not ended is incomplete. */
function cutItem(item: Draft): Draft {
  return item.status === 'in_progress' ? { ...item, status: 'incomplete' } : item;
}
