/** Tests how content parts are rendered, and which ones are refused for the provider or the model. */
import { describe, expect, test } from 'bun:test';
import { type CacheMark, type Part, type Source, textPart } from '../../../generation/part.ts';
import { requestOf, userTurn } from '../../../generation/testing/request-of.ts';
import { CAPABLE, withChatTraits } from '../../testing/capable-upstream.ts';
import type { UpstreamTraits } from '../../upstream-traits.ts';
import { messagesOf, refusalOf, render } from '../testing/chat-request.ts';

const PDF: Source = { kind: 'base64', media_type: 'application/pdf', base64: 'JVBE' };
const FILE: Source = { kind: 'file', id: 'file_1' };
const WEB: Source = { kind: 'url', url: 'https://a.example/b' };

function documentPart(source: Source, members: Partial<Extract<Part, { kind: 'document' }>> = {}): Part {
  return { kind: 'document', source, title: null, context: null, cites: false, cache_mark: null, ...members };
}

function medium(kind: 'image' | 'audio', source: Source, detail: string | null = null): Part {
  return { kind, source, detail, cache_mark: null };
}

const contentOf = (parts: readonly Part[], traits: UpstreamTraits = CAPABLE) =>
  messagesOf([userTurn(...parts)], traits)[0].content;
const lacking = (takes: Partial<UpstreamTraits['takes']>) => ({ ...CAPABLE, takes: { ...CAPABLE.takes, ...takes } });

test('renders one text as a string, several as parts, none as an empty string', () => {
  expect(contentOf([textPart('a')])).toBe('a');
  expect(contentOf([textPart('a'), textPart('b')])).toHaveLength(2);
  expect(contentOf([])).toBe('');
});

test('images and sounds are written as the format has them', () => {
  const wav: Source = { kind: 'base64', media_type: 'audio/wav', base64: 'AA' };
  expect(contentOf([medium('image', WEB, 'low'), medium('audio', wav)])).toEqual([
    { type: 'image_url', image_url: { url: 'https://a.example/b', detail: 'low' } },
    { type: 'input_audio', input_audio: { data: 'AA', format: 'wav' } },
  ]);
});

describe('documents', () => {
  test('renders a document of bytes as a file with a PDF name', () => {
    const file = (filename: string) => ({
      type: 'file',
      file: { filename, file_data: 'data:application/pdf;base64,JVBE' },
    });
    expect(contentOf([documentPart(PDF)])).toEqual([file('document.pdf')]);
    expect(contentOf([documentPart(PDF, { title: 'Report' })])).toEqual([file('Report.pdf')]);
    expect(contentOf([documentPart(PDF, { title: 'R.PDF', context: 'of May' })])).toEqual([
      { type: 'text', text: 'of May' },
      file('R.PDF'),
    ]);
  });

  test('text documents become text under their title, also without file support', () => {
    const part = documentPart({ kind: 'text', text: 'body' }, { title: 'Notes', context: 'of May' });
    expect(contentOf([part], withChatTraits({ files: false }))).toBe('Document: Notes\n\nof May\n\nbody');
  });

  test('documents with requested citations are sent, and the option is reported', () => {
    expect(render(requestOf({ turns: [userTurn(documentPart(PDF, { cites: true }))] })).dropped).toEqual(['citations']);
  });
});

test.each([
  ['an image', medium('image', WEB), lacking({ image: false })],
  ['sound', medium('audio', PDF), lacking({ audio: false })],
  ['a PDF', documentPart(PDF), lacking({ pdf: false })],
  ['a file', documentPart(PDF), withChatTraits({ files: false })],
  ['an image of another host', medium('image', FILE), CAPABLE],
  ['a document of another host', documentPart(FILE), CAPABLE],
  ['a document on the web', documentPart(WEB), CAPABLE],
  ['sound on the web', medium('audio', WEB), CAPABLE],
] as const)('%s that cannot be taken is refused by its turn', (_case, part, traits) => {
  expect(refusalOf(() => contentOf([part], traits)).param).toBe('messages.0');
});

test('names the unsupported content in the refusal', () => {
  expect(refusalOf(() => contentOf([medium('image', WEB)], lacking({ image: false }))).message).toBe(
    'messages.0: holds an image, but the model "m" takes no images',
  );
});

describe('marks', () => {
  const marked = (text: string, ttlMinutes: number | null): Part => ({ ...textPart(text), cache_mark: { ttlMinutes } });

  test.each([
    [null, undefined],
    [5, undefined],
    [30, '30m'],
    [60, '12h'],
    [720, '12h'],
  ])('of %p minutes have the ttl %p', (ttlMinutes, ttl) => {
    expect(contentOf([marked('a', ttlMinutes)])[0].prompt_cache_breakpoint.ttl).toBe(ttl as string);
  });

  test('are named where the host takes none, in the caller’s word', () => {
    const turns = [userTurn(marked('a', 5))];
    const { body, dropped } = render(
      requestOf({ turns, named: { cache_marks: 'cache_control' } }),
      withChatTraits({ cacheMarks: false }),
    );
    expect([body.messages[0].content, dropped]).toEqual(['a', ['cache_control']]);
  });

  test('more than four marks: the last four are set', () => {
    const parts = ['a', 'b', 'c', 'd', 'e', 'f'].map((text) => marked(text, null));
    const { body, dropped } = render(requestOf({ turns: [userTurn(...parts)] }));
    const set = body.messages[0].content.map(
      (part: { prompt_cache_breakpoint?: CacheMark }) => 'prompt_cache_breakpoint' in part,
    );
    expect([set, dropped]).toEqual([[false, false, true, true, true, true], ['cache_marks']]);
  });
});
