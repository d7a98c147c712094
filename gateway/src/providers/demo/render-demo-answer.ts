/** Owns the way from a call to the demo model's reply, errors included. How to read and write each protocol is not its job. */
import { BodyProblem } from './body-problem.ts';
import { parseChatBody } from './chat/parse-chat-body.ts';
import { renderChatError } from './chat/render-chat-error.ts';
import { renderChatResponse } from './chat/render-chat-response.ts';
import { renderChatStream } from './chat/render-chat-stream.ts';
import { composeAnswer } from './compose-answer.ts';
import type { DemoCall, DemoReply } from './demo-call.ts';
import { encodeText, fingerprintCall } from './fingerprint.ts';
import { parseCountBody, parseMessagesBody } from './messages/parse-messages-body.ts';
import { renderMessagesError } from './messages/render-messages-error.ts';
import { renderMessagesResponse } from './messages/render-messages-response.ts';
import { renderMessagesStream } from './messages/render-messages-stream.ts';

/**
 * Answers a call to `/v1/chat/completions` or `/v1/messages` as a strict provider of that protocol would. Synchronous,
 * offline, and a pure function of the call: equal calls give equal bytes. A body that such a provider would refuse gives
 * a 400 in the protocol's error shape; nothing is thrown for what stands in the body.
 */
export function renderDemoAnswer(call: DemoCall): DemoReply {
  return answerOrRefuse(call, () => (call.protocol === 'chat' ? answerChat(call) : answerMessages(call)));
}

/** Answers a call to `/v1/messages/count_tokens`: the `input_tokens` that the same message would be metered with. */
export function renderDemoTokenCount(call: DemoCall & { readonly protocol: 'messages' }): DemoReply {
  return answerOrRefuse(call, () => {
    parseCountBody(call.body, call.version);
    return jsonReply(call, 200, { input_tokens: fingerprintCall(call.body, call.requestId).inputTokens });
  });
}

function answerChat(call: DemoCall): DemoReply {
  const prompt = parseChatBody(call.body);
  const print = fingerprintCall(call.body, call.requestId);
  const answers = Array.from({ length: prompt.choices }, (_, choice) => composeAnswer(prompt, choice));
  const turn = { prompt, answers, print, created: Math.floor(call.nowMs / 1000) };
  return prompt.stream ? streamReply(call, renderChatStream(turn)) : jsonReply(call, 200, renderChatResponse(turn));
}

function answerMessages(call: DemoCall): DemoReply {
  const prompt = parseMessagesBody(call.body, call.version);
  const print = fingerprintCall(call.body, call.requestId);
  const turn = { prompt, answer: composeAnswer(prompt, 0), print };
  return prompt.stream
    ? streamReply(call, renderMessagesStream(turn))
    : jsonReply(call, 200, renderMessagesResponse(turn));
}

function answerOrRefuse(call: DemoCall, answer: () => DemoReply): DemoReply {
  try {
    return answer();
  } catch (problem) {
    if (!(problem instanceof BodyProblem)) throw problem;
    const body = call.protocol === 'chat' ? renderChatError(problem) : renderMessagesError(problem, call.requestId);
    return jsonReply(call, 400, body);
  }
}

function jsonReply(call: DemoCall, status: number, body: object): DemoReply {
  const headers = [['content-type', 'application/json'], requestIdHeader(call)] as const;
  return { kind: 'json', status, headers, body: encodeText(JSON.stringify(body)) };
}

function streamReply(call: DemoCall, records: Extract<DemoReply, { kind: 'stream' }>['records']): DemoReply {
  const headers = [['content-type', 'text/event-stream; charset=utf-8'], requestIdHeader(call)] as const;
  return { kind: 'stream', status: 200, headers, records };
}

function requestIdHeader(call: DemoCall): readonly [string, string] {
  return [call.protocol === 'chat' ? 'x-request-id' : 'request-id', call.requestId];
}
