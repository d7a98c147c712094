/** Tests the instruction that a request for plain JSON gets. */
import { expect, test } from 'bun:test';
import { textPart } from '../../generation/part.ts';
import type { GenerationRequest, Turn } from '../../generation/request.ts';
import { requestOf } from '../../generation/testing/request-of.ts';
import { UPSTREAM_PROTOCOLS } from '../registry.ts';
import { startTranslationNotes } from '../request/translation-notes.ts';
import { CAPABLE } from '../testing/capable-upstream.ts';

const turn = (role: Turn['role'], text: string): Turn => ({ role, name: null, parts: [textPart(text)], path: role });
const WORDS = 'Answer with a single JSON object and nothing else.';

/** The texts of the messages that upstream gets, each with its role. */
function sent(upstream: 'chat' | 'responses', changes: Partial<GenerationRequest>): string[] {
  const request = requestOf({ output_format: { kind: 'json' }, ...changes });
  const { messages, input } = JSON.parse(
    UPSTREAM_PROTOCOLS[upstream].renderRequest(request, CAPABLE, startTranslationNotes(true)).json,
  );
  return (messages ?? input).map(({ role, content }: { role: string; content: string | { text: string }[] }) => {
    const text = typeof content === 'string' ? content : content.map((part) => part.text).join('|');
    return `${role.replace('developer', 'system')}: ${text}`;
  });
}

test.each(['chat', 'responses'] as const)('%s gets an instruction where no text of the request does', (upstream) => {
  const asked = turn('user', 'List three cookies.');
  expect(sent(upstream, { turns: [asked] })).toEqual([`system: ${WORDS}`, 'user: List three cookies.']);
  const [instructions, question] = sent(upstream, { turns: [turn('system', 'Be brief.'), asked] });
  expect([instructions?.split(/\n\n|\|/), question]).toEqual([
    ['system: Be brief.', WORDS],
    'user: List three cookies.',
  ]);
});

test.each(['chat', 'responses'] as const)(
  '%s is told nothing where the request does, or asks for no JSON',
  (upstream) => {
    expect(sent(upstream, { turns: [turn('user', 'As json, please.')] })).toEqual(['user: As json, please.']);
    expect(sent(upstream, { turns: [turn('system', 'JSON only'), turn('user', 'Go.')] })).toHaveLength(2);
    expect(sent(upstream, { output_format: null, turns: [turn('user', 'Go.')] })).toEqual(['user: Go.']);
  },
);
