/** Owns the streamed answer of a messages provider: its events, their order, and the pauses between words. */
import type { DemoRecord } from '../demo-call.ts';
import { encodeText } from '../fingerprint.ts';
import { splitFragments, splitWords, WORD_PAUSE_MS } from '../split-words.ts';
import {
  type AnswerBlock,
  answerBlocks,
  type MessagesTurn,
  messageCounters,
  messageEnd,
  messageHead,
  messageUsage,
} from './messages-turn.ts';

/** The grammar of `wire-protocols.md` B.7: start, blocks one after another, `message_delta`, `message_stop`. */
export function* renderMessagesStream(turn: MessagesTurn): Generator<DemoRecord> {
  const { outputTokens } = turn.answer;
  const end = messageEnd(turn);
  yield record({
    type: 'message_start',
    message: {
      ...messageHead(turn),
      content: [],
      ...{ ...end, stop_reason: null, stop_sequence: null },
      diagnostics: null,
      usage: messageUsage(turn, Math.min(1, outputTokens)),
    },
  });
  yield record({ type: 'ping' });
  for (const [index, block] of answerBlocks(turn).entries()) {
    yield record({ type: 'content_block_start', index, content_block: openBlock(block) });
    for (const delta of blockDeltas(block)) yield record({ type: 'content_block_delta', index, delta }, WORD_PAUSE_MS);
    yield record({ type: 'content_block_stop', index });
  }
  yield record({ type: 'message_delta', delta: end, usage: messageCounters(turn, outputTokens) });
  yield record({ type: 'message_stop' });
}

function openBlock(block: AnswerBlock): object {
  if (block.type === 'thinking') return { ...block, thinking: '', signature: '' };
  if (block.type === 'text') return { ...block, text: '' };
  return { ...block, input: {}, caller: { type: 'direct' } };
}

function* blockDeltas(block: AnswerBlock): Generator<object> {
  if (block.type === 'text') {
    for (const text of splitWords(block.text)) yield { type: 'text_delta', text };
  } else if (block.type === 'thinking') {
    for (const thinking of splitWords(block.thinking)) yield { type: 'thinking_delta', thinking };
    yield { type: 'signature_delta', signature: block.signature };
  } else {
    yield { type: 'input_json_delta', partial_json: '' };
    for (const partial_json of splitFragments(block.input)) yield { type: 'input_json_delta', partial_json };
  }
}

function record<Event extends { readonly type: string }>(event: Event, pauseMs = 0): DemoRecord {
  return { bytes: encodeText(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`), pauseMs };
}
