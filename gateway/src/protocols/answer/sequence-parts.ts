/**
 * Serializes the parts of a response in the order in which they began, for a format that allows only one open part: the
 * first passes live, later ones wait.
 */
import { type EventFilter, type GenerationEvent, isCut, type PartOpening } from '../../generation/event.ts';
import { CallArguments } from './call-arguments.ts';

/** Limits for parts that wait behind an open part. Real responses stay far below. */
const WAITING_CHARS_MAX = 32 * 1024 * 1024;
const WAITING_PARTS_MAX = 1_000;
const NONE: readonly GenerationEvent[] = [];

type PartEvent = Extract<GenerationEvent, { kind: 'text_delta' | 'arguments_delta' | 'signature' | 'citation' }>;
type DataEvent = Extract<GenerationEvent, { kind: 'host_data' }>;

interface Lane {
  readonly opening: PartOpening;
  readonly started: GenerationEvent;
  readonly part: number;
  /** Set for a call whose arguments must be a JSON object; else null. */
  readonly call: CallArguments | null;
  state: 'live' | 'waiting' | 'written';
  /** The source ended the part. */
  ended: boolean;
  /** Events received while waiting, with the text joined. `chars` is the size of all of them. */
  text: string;
  readonly rest: GenerationEvent[];
  /** The provider's data of the part, which comes before its text. */
  data: DataEvent | null;
  chars: number;
}

/**
 * Writes a call until its JSON is complete; then the next part may follow. A call that ended without being a JSON
 * object holds all others back until the finish shows whether the response was cut. `violation`: the input cannot be
 * rendered; from then on there are no events.
 */
export class PartSequencer implements EventFilter {
  violation: string | null = null;
  readonly #lanes = new Map<number, Lane>();
  #live: Lane | null = null;
  #waiting: Lane[] = [];
  #waitingChars = 0;

  push(event: GenerationEvent): readonly GenerationEvent[] {
    if (this.violation !== null) return NONE;
    switch (event.kind) {
      case 'text_delta':
      case 'arguments_delta':
      case 'signature':
      case 'citation':
        return this.#pass(event);
      case 'host_data':
        return this.#passData(event);
      case 'part_start':
        return this.#start(event);
      case 'part_end':
        return this.#end(event.part);
      case 'finish':
        return this.#finish(event);
      default:
        return [event];
    }
  }

  #start(event: Extract<GenerationEvent, { kind: 'part_start' }>): readonly GenerationEvent[] {
    const { part, opening } = event;
    if (this.#lanes.has(part)) return this.#violate(`part ${part} began twice`);
    const takesJson = opening.kind === 'tool_call' && opening.tool === 'function';
    const call = takesJson ? new CallArguments() : null;
    const chars = opening.kind === 'opaque' ? opening.part.native.json.length : 0;
    const lane: Lane = {
      opening,
      started: event,
      part,
      call,
      state: 'waiting',
      ended: false,
      text: '',
      rest: [],
      data: null,
      chars,
    };
    this.#lanes.set(part, lane);
    this.#waiting.push(lane);
    this.#waitingChars += chars;
    const events = this.#advance([]);
    return this.#waiting.length > WAITING_PARTS_MAX || this.#waitingChars > WAITING_CHARS_MAX
      ? this.#overflow()
      : events;
  }

  #pass(event: PartEvent): readonly GenerationEvent[] {
    const lane = this.#lanes.get(event.part);
    if (lane === undefined || lane.ended)
      return this.#violate(`${event.kind} of part ${event.part}, which is not open`);
    if (event.kind === 'arguments_delta') lane.call?.push(event.text);
    if (lane.state === 'written') {
      if (lane.call?.judge() === 'whole') return NONE;
      return this.#violate('a tool call went on behind the end of its JSON');
    }
    if (lane.state === 'live') return this.#waiting.length === 0 ? [event] : this.#advance([event]);
    this.#keep(lane, event);
    return this.#waitingChars > WAITING_CHARS_MAX ? this.#overflow() : NONE;
  }

  /** Data may also come after the end of its part. */
  #passData(event: DataEvent): readonly GenerationEvent[] {
    const lane = this.#lanes.get(event.part);
    if (lane?.state !== 'waiting') return [event];
    const chars = event.native.json.length - (lane.data?.native.json.length ?? 0);
    lane.data = event;
    lane.chars += chars;
    this.#waitingChars += chars;
    return this.#waitingChars > WAITING_CHARS_MAX ? this.#overflow() : NONE;
  }

  #keep(lane: Lane, event: PartEvent): void {
    const isText = event.kind === 'text_delta' || event.kind === 'arguments_delta';
    if (isText) lane.text += event.text;
    else lane.rest.push(event);
    const chars = isText ? event.text.length : JSON.stringify(event).length;
    lane.chars += chars;
    this.#waitingChars += chars;
  }

  #end(part: number): readonly GenerationEvent[] {
    const lane = this.#lanes.get(part);
    if (lane === undefined || lane.ended) return this.#violate(`part ${part}, which is not open, ended`);
    lane.ended = true;
    return lane.state === 'live' ? this.#advance([]) : NONE;
  }

  /** Closes the live part if it is done and opens the next, repeatedly. */
  #advance(events: GenerationEvent[]): readonly GenerationEvent[] {
    while (this.#live === null || this.#isDone(this.#live)) {
      if (this.#live !== null) events.push(this.#close(this.#live));
      const next = this.#waiting.shift();
      if (next === undefined) break;
      this.#open(next, events);
    }
    return events;
  }

  #isDone({ call, ended }: Lane): boolean {
    const mayEnd = ended || (this.#waiting.length > 0 && call?.hasEnded === true);
    return mayEnd && call?.judge() !== 'broken';
  }

  #close(lane: Lane): GenerationEvent {
    lane.state = 'written';
    this.#live = null;
    return { kind: 'part_end', part: lane.part };
  }

  #open(lane: Lane, events: GenerationEvent[]): void {
    lane.state = 'live';
    this.#live = lane;
    events.push(lane.started);
    if (lane.data !== null) events.push(lane.data);
    const kind = lane.opening.kind === 'tool_call' ? 'arguments_delta' : 'text_delta';
    if (lane.text !== '') events.push({ kind, part: lane.part, text: lane.text });
    events.push(...lane.rest);
    this.#waitingChars -= lane.chars;
    lane.text = '';
  }

  #finish(event: Extract<GenerationEvent, { kind: 'finish' }>): readonly GenerationEvent[] {
    const all = this.#live === null ? this.#waiting : [this.#live, ...this.#waiting];
    const broken = isCut(event.finish_reason) ? undefined : all.find(({ call }) => call?.judge() === 'broken');
    if (broken?.opening.kind === 'tool_call') {
      return this.#violate(`the arguments of a call of ${shownName(broken.opening.name)} are not a JSON object`);
    }
    const events: GenerationEvent[] = [];
    for (const lane of all) {
      if (lane.state === 'waiting') this.#open(lane, events);
      events.push(this.#close(lane));
    }
    this.#waiting = [];
    events.push(event);
    return events;
  }

  #overflow(): readonly GenerationEvent[] {
    return this.#violate(`more than ${WAITING_PARTS_MAX} parts or ${WAITING_CHARS_MAX} characters beside an open part`);
  }

  #violate(violation: string): readonly GenerationEvent[] {
    this.violation = violation;
    return NONE;
  }
}

const NAME_CHARS_MAX = 100;

function shownName(name: string): string {
  return JSON.stringify(name.slice(0, NAME_CHARS_MAX));
}
