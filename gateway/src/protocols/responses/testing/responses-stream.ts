/** Builds Responses streams for tests: events with their numbers, items, and whole streams. */
import { asObject, type JsonObject } from '../../json.ts';
import { ResponsesGrammar } from '../stream/stream-grammar.ts';

export type Event = { readonly type: string; readonly [member: string]: unknown };

export const USAGE = {
  input_tokens: 10,
  input_tokens_details: { cached_tokens: 4, cache_write_tokens: 1 },
  output_tokens: 7,
  output_tokens_details: { reasoning_tokens: 3 },
  total_tokens: 17,
};

export const response = (status: string, members: object = {}) => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1_800_000_000,
  status,
  model: 'lab-model',
  output: [],
  usage: null,
  ...members,
});

export const event = (type: string, members: object = {}): Event => ({ type, ...members });

/** An item whose whole content comes with its events. */
export interface SampleItem {
  readonly added: JsonObject;
  readonly events: readonly Event[];
  readonly done: JsonObject;
}

export function message(o: number, texts: readonly string[], id = `msg_${o}`): SampleItem {
  const at = { item_id: id, output_index: o, content_index: 0 };
  const text = texts.join('');
  const part = { type: 'output_text', text, annotations: [] };
  const head = { id, type: 'message', role: 'assistant' };
  return {
    added: { ...head, status: 'in_progress', content: [] },
    events: [
      event('response.content_part.added', { ...at, part: { ...part, text: '' } }),
      ...texts.map((delta) => event('response.output_text.delta', { ...at, delta, logprobs: [] })),
      event('response.output_text.done', { ...at, text, logprobs: [] }),
      event('response.content_part.done', { ...at, part }),
    ],
    done: { ...head, status: 'completed', content: [part] },
  };
}

export function call(o: number, pieces: readonly string[], call_id = `call_${o}`): SampleItem {
  const at = { item_id: `fc_${o}`, output_index: o };
  const head = { id: `fc_${o}`, type: 'function_call', call_id, name: 'look' };
  return {
    added: { ...head, status: 'in_progress', arguments: '' },
    events: [
      ...pieces.map((delta) => event('response.function_call_arguments.delta', { ...at, delta })),
      event('response.function_call_arguments.done', { ...at, arguments: pieces.join('') }),
    ],
    done: { ...head, status: 'completed', arguments: pieces.join('') },
  };
}

export function reasoning(o: number, texts: readonly string[]): SampleItem {
  const at = { item_id: `rs_${o}`, output_index: o, summary_index: 0 };
  const part = { type: 'summary_text', text: texts.join('') };
  const head = { id: `rs_${o}`, type: 'reasoning', encrypted_content: 'sealed' };
  const events = [
    event('response.reasoning_summary_part.added', { ...at, part: { ...part, text: '' } }),
    ...texts.map((delta) => event('response.reasoning_summary_text.delta', { ...at, delta })),
    event('response.reasoning_summary_text.done', { ...at, text: part.text }),
    event('response.reasoning_summary_part.done', { ...at, part }),
  ];
  return {
    added: { ...head, summary: [] },
    events: texts.length === 0 ? [] : events,
    done: { ...head, summary: texts.length === 0 ? [] : [part] },
  };
}

/** The events of a whole stream, without numbers. */
export function streamOf(items: readonly SampleItem[], end: object = {}, type = 'completed'): Event[] {
  return [
    event('response.created', { response: response('in_progress') }),
    event('response.in_progress', { response: response('in_progress') }),
    ...items.flatMap(({ added, events, done }, output_index) => [
      event('response.output_item.added', { output_index, item: added }),
      ...events,
      event('response.output_item.done', { output_index, item: done }),
    ]),
    event(`response.${type}`, {
      response: response(type, { output: items.map(({ done }) => done), usage: USAGE, ...end }),
    }),
  ];
}

/** Numbers the events from 0 on. */
export function numbered(events: readonly Event[]): Event[] {
  return events.map((one, sequence_number) => ({ ...one, sequence_number }));
}

export const record = (one: Event): string => `event: ${one.type}\ndata: ${JSON.stringify(one)}\n\n`;

/** The text of a stream of these events, numbered. */
export const textOf = (events: readonly Event[]): string => numbered(events).map(record).join('');

/** The first violation of a stream's text, as the grammar words it; null: none. */
export function violationOf(text: string): string | null {
  const grammar = new ResponsesGrammar();
  for (const block of text.replaceAll('\r\n', '\n').split('\n\n')) {
    const lines = block.split('\n');
    const data = lines.flatMap((line) => (line.startsWith('data:') ? [line.slice(5).trim()] : [])).join('\n');
    if (data === '' || data === '[DONE]') continue;
    const name =
      lines
        .find((line) => line.startsWith('event:'))
        ?.slice(6)
        .trim() ?? '';
    const found = grammar.check(name, asObject(JSON.parse(data)) ?? {});
    if (found !== null) return found;
  }
  return null;
}
