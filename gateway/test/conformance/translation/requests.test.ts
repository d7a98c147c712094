/**
 * Tests that a recorded request keeps, in its own format and in the other, every member that the format carries; that
 * the rendered request is legal; and that only listed requests are refused. `answers.test.ts` tests the
 * answers.
 */
import { describe, expect, test } from 'bun:test';
import type { GenerationRequest } from '../../../src/generation/request.ts';
import type { SetName } from '../../fake-upstream/recordings.ts';
import { judgeChatRequest } from './chat-legality.ts';
import { carried, lostFeatures, withNames } from './conversations/carried.ts';
import type { Format } from './format.ts';
import { judgeMessagesRequest } from './messages-legality.ts';
import { REFUSED, type Refusals } from './refusals.ts';
import {
  exchangeSets,
  OTHER,
  orRefusal,
  type RecordedExchange,
  readRequest,
  type WrittenRequest,
  writeRequest,
} from './rig.ts';

interface Written {
  readonly exchange: RecordedExchange;
  readonly to: Format;
  readonly request: GenerationRequest;
  readonly written: WrittenRequest;
}

interface Expected {
  readonly askedMin: number;
  readonly writtenMin: number;
  /** Number of reported drops, by translation and member. */
  readonly drops: Readonly<Record<string, number>>;
}

const EXPECTED: Readonly<Record<SetName, Expected>> = {
  corpus: {
    askedMin: 180,
    writtenMin: 330,
    drops: {
      'chat to messages: frequency_penalty': 1,
      'chat to messages: image_url.detail': 1,
      'chat to messages: messages.name': 1,
      'chat to messages: presence_penalty': 1,
      'chat to messages: seed': 1,
      'chat to messages: temperature': 1,
      'messages to chat: citations': 1,
    },
  },
  recordings: {
    askedMin: 614,
    writtenMin: 1_134,
    drops: {
      'chat to chat: cache_control': 1,
      'chat to chat: tools.0.strict': 1,
      'chat to chat: tools.1.strict': 1,
      'chat to messages: frequency_penalty': 1,
      'chat to messages: image_url.detail': 1,
      'chat to messages: messages.name': 2,
      'chat to messages: presence_penalty': 1,
      'chat to messages: seed': 1,
      'chat to messages: service_tier': 3,
      'chat to messages: tools.0.parameters.nullable': 1,
      'messages to chat: cache_control': 2,
      'messages to chat: citations': 3,
    },
  },
};

interface Outcome {
  readonly recorded: readonly RecordedExchange[];
  readonly written: readonly Written[];
  /** By translation: `chat` could not be parsed, `chat to messages` could not be rendered. */
  readonly refused: ReadonlyMap<string, ReadonlyMap<string, string>>;
}

/** Parses every request and renders it in both formats. */
function translateAll(exchanges: readonly RecordedExchange[]): Outcome {
  const recorded = exchanges.filter(({ request }) => request !== null);
  const written: Written[] = [];
  const refused = new Map<string, Map<string, string>>();
  const note = (way: string, id: string, words: string): void => {
    const found = refused.get(way) ?? new Map<string, string>();
    refused.set(way, found.set(id.slice(id.indexOf('/') + 1), words));
  };
  for (const exchange of recorded) {
    const { id, format } = exchange;
    const found = orRefusal(() => readRequest(format, exchange.request ?? ''));
    if ('refused' in found) {
      note(format, id, found.refused);
      continue;
    }
    for (const to of [format, OTHER[format]]) {
      const { request } = found;
      const outcome = orRefusal(() => writeRequest(to, request));
      if ('refused' in outcome) note(`${format} to ${to}`, id, outcome.refused);
      else written.push({ exchange, to, request, written: outcome });
    }
  }
  return { recorded, written, refused };
}

const sets = exchangeSets().map(({ name, exchanges }) => ({ name, ...translateAll(exchanges) }));

/** Words of each refusal that are in the list, in the list's form. */
function inShapeOf(listed: Refusals, found: ReadonlyMap<string, string>): Record<string, string[]> {
  const shaped: Record<string, string[]> = {};
  for (const [id, words] of found) {
    const beginning = Object.keys(listed).find((start) => words.startsWith(start)) ?? words;
    shaped[beginning] = [...(shaped[beginning] ?? []), id].sort();
  }
  return shaped;
}

/** The reasoning that one leg carries: signed by its issuer to messages, its text to chat. */
function thoughts({ turns }: GenerationRequest, to: Format): string {
  return turns
    .flatMap(({ parts }) => parts)
    .flatMap((part) => {
      if (part.kind !== 'reasoning' || (to === 'chat' && part.redacted)) return [];
      if (to === 'chat') return part.text;
      return part.issuer === 'messages' && part.signature !== null ? `${part.text} ${part.signature}` : [];
    })
    .join('\n\n');
}

describe.each(sets)('requests of $name in both formats', ({ name, recorded, written, refused }) => {
  const listedWays = Object.entries(REFUSED[name]);
  test('are many', () => {
    const crossed = written.filter(({ exchange, to }) => exchange.format !== to);
    const turned = [...refused].map(([way, found]) => `${found.size} ${way}`).join(', ');
    console.log(
      `translated requests: ${recorded.length} of ${name}, ${written.length - crossed.length} written in their own format, ` +
        `${crossed.length} in the other; refused: ${turned}`,
    );
    expect(recorded.length).toBeGreaterThanOrEqual(EXPECTED[name].askedMin);
    expect(written.length).toBeGreaterThanOrEqual(EXPECTED[name].writtenMin);
  });

  test.each(listedWays)('%s: exactly the listed requests are refused', (way, listed) => {
    expect(inShapeOf(listed, refused.get(way) ?? new Map())).toEqual(inOrder(listed));
  });

  test('translated requests keep every member that both formats carry and that is not reported as dropped', () => {
    for (const { exchange, to, request, written: sent } of written) {
      const back = readRequest(to, sent.json);
      const through = new Set([exchange.format, to]);
      const lost = new Set(lostFeatures(request, sent.dropped));
      const after = withNames(back.request, sent.tools.restored);
      expect([exchange.id, to, back.dropped]).toEqual([exchange.id, to, []]);
      expect([exchange.id, to, carried(after, through, lost)]).toEqual([
        exchange.id,
        to,
        carried(request, through, lost),
      ]);
      expect([exchange.id, to, thoughts(after, to)]).toEqual([exchange.id, to, thoughts(request, to)]);
    }
  });

  test('translated requests drop the listed members and report them', () => {
    const drops = new Map<string, number>();
    for (const { exchange, to, written: sent } of written) {
      for (const word of sent.dropped) {
        const drop = `${exchange.format} to ${to}: ${word}`;
        drops.set(drop, (drops.get(drop) ?? 0) + 1);
      }
    }
    expect(Object.fromEntries([...drops].sort())).toEqual(EXPECTED[name].drops);
  });

  test('are legal as they are written', () => {
    for (const { exchange, to, written: sent } of written) {
      const body = JSON.parse(sent.json);
      const faults = to === 'chat' ? judgeChatRequest(body) : judgeMessagesRequest(body);
      expect([exchange.id, to, faults]).toEqual([exchange.id, to, []]);
    }
  });

  test('are written to the same bytes again, once they were written and read', () => {
    for (const { exchange, to, written: sent } of written) {
      const again = writeRequest(to, withNames(readRequest(to, sent.json).request, sent.tools.restored));
      expect([exchange.id, to, again.json]).toEqual([exchange.id, to, sent.json]);
    }
  });
});

function inOrder(listed: Refusals): Record<string, string[]> {
  return Object.fromEntries(Object.entries(listed).map(([words, ids]) => [words, [...ids].sort()]));
}
