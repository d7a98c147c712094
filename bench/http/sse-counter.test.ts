/** Tests that events are counted exactly at every split, and that only a body with its format's end mark counts as finished. */
import { describe, expect, test } from 'bun:test';
import type { Protocol } from '../protocol.ts';
import { createSseCounter } from './sse-counter.ts';

function count(protocol: Protocol, text: string, cut: number) {
  let heard = 0;
  const counter = createSseCounter(protocol, () => {
    heard += 1;
  });
  const bytes = Buffer.from(text);
  counter.push(bytes.subarray(0, cut));
  counter.push(bytes.subarray(cut));
  return { events: counter.events, heard, finished: counter.finished, closingData: counter.closingData };
}

describe('counting the events of a chat stream', () => {
  test('gives the same at every split: comments and [DONE] are no events', () => {
    const text = ':\n\ndata: {"a":1}\n\n: keep-alive\n\nevent: x\ndata: {"b":2}\n\ndata: [DONE]\n\n';
    for (let cut = 0; cut <= text.length; cut += 1) {
      expect(count('chat', text, cut)).toEqual({ events: 2, heard: 2, finished: true, closingData: null });
    }
  });

  test.each([
    ['no end mark', 'data: 1\n\n'],
    ['an end mark without its blank line', 'data: 1\n\ndata: [DONE]\n'],
    ['an event after the end mark', 'data: [DONE]\n\ndata: 1\n\n'],
    ['bytes after the end mark', 'data: [DONE]\n\ndata: 1'],
    ['the end mark of messages', 'data: 1\n\nevent: message_stop\ndata: {}\n\n'],
  ])('%s is not finished', (_, text) => {
    expect(count('chat', text, 3).finished).toBe(false);
  });
});

const START = 'event: message_start\ndata: {"type":"message_start"}\n\n';
const TEXT = 'event: content_block_delta\ndata: {"type":"content_block_delta"}\n\n';
const STOP = 'event: message_stop\ndata: {"type":"message_stop"}\n\n';

function delta(closing: string): string {
  return `event: message_delta\ndata: ${closing}\n\n`;
}

describe('counting the events of a stream of Responses', () => {
  const TEXT = 'event: response.output_text.delta\ndata: {"type":"response.output_text.delta"}\n\n';
  const END = 'event: response.completed\ndata: {"n":"é"}\n\n';

  test('gives the same at every split, and keeps what the end said', () => {
    const text = `${TEXT}: ping\n\n${TEXT}${END}`;
    for (let cut = 0; cut <= Buffer.byteLength(text); cut += 1) {
      expect(count('responses', text, cut)).toEqual({ events: 3, heard: 3, finished: true, closingData: '{"n":"é"}' });
    }
  });

  test.each([
    ['no end mark', TEXT],
    ['another name of the same length', TEXT + END.replace('response.completed', 'response.incomplet')],
    ['an event after the end mark', END + TEXT],
    ['the end mark of chat', `${TEXT}data: [DONE]\n\n`],
  ])('%s is not finished', (_, text) => {
    expect(count('responses', text, 3).finished).toBe(false);
  });
});

describe('counting the events of a messages stream', () => {
  test('gives the same at every split, and keeps what the last message_delta said', () => {
    const text = `${START}${TEXT}: ping\n\n${delta('{"n":1}')}${delta('{"n":"é"}')}${STOP}`;
    for (let cut = 0; cut <= Buffer.byteLength(text); cut += 1) {
      expect(count('messages', text, cut)).toEqual({ events: 5, heard: 5, finished: true, closingData: '{"n":"é"}' });
    }
  });

  test.each([
    ['no end mark', START + TEXT + delta('{}')],
    ['an end mark without its blank line', START + STOP.slice(0, -1)],
    ['an end mark without data', `${START}event: message_stop\n\n`],
    ['an event after the end mark', STOP + TEXT],
    ['bytes after the end mark', `${STOP}data: 1`],
    ['the end mark of chat', `${START}data: [DONE]\n\n`],
    ['the end mark of chat after its own', `${STOP}data: [DONE]\n\n`],
    ['another name that begins alike', STOP.replaceAll('message_stop', 'message_stopped')],
  ])('%s is not finished', (_, text) => {
    expect(count('messages', text, 3).finished).toBe(false);
  });
});
