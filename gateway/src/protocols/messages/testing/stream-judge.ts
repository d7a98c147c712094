/**
 * Checks a messages stream's text independently against invariants I1–I12 of wire reference B.7. Shares no code with
 * the renderer, its grammar or the SSE decoder.
 */

interface Block {
  readonly type: string;
  open: boolean;
  json: string;
  signed: boolean;
}

const FITS: { readonly [delta: string]: readonly string[] } = {
  text_delta: ['text'],
  citations_delta: ['text'],
  input_json_delta: ['tool_use'],
  thinking_delta: ['thinking'],
  signature_delta: ['thinking'],
};

/** The faults of the beginning of a stream; `whole` also reports what is missing. Empty: no fault. */
export function judgeStream(text: string, whole: boolean): string[] {
  const faults: string[] = [];
  const blocks: Block[] = [];
  let started = 0;
  let stopped = 0;
  let stop_reason: string | null = null;
  let tokens = 0;
  const records = text.split('\n\n');
  if (records.pop() !== '') faults.push('I11 the last record is not ended');
  for (const record of records) {
    const lines = /^event: (\w+)\ndata: (.*)$/.exec(record);
    if (lines === null) {
      faults.push(`I11 or I12: ${record}`);
      continue;
    }
    const event = JSON.parse(lines[2] ?? '');
    if (event.type !== lines[1]) faults.push(`I11 ${lines[1]} for ${event.type}`);
    if (stopped > 0) faults.push(`I10 ${event.type} after the end`);
    if (started === 0 && event.type !== 'message_start') faults.push(`I1 ${event.type} first`);
    const block = blocks[event.index];
    switch (event.type) {
      case 'message_start':
        started += 1;
        tokens = event.message.usage.output_tokens;
        if (started > 1) faults.push('I1 two starts');
        break;
      case 'content_block_start':
        if (event.index !== blocks.length) faults.push(`I2 index ${event.index} is not ${blocks.length}`);
        if (blocks.some(({ open }) => open)) faults.push('I3 two open blocks');
        blocks.push({ type: event.content_block.type, open: true, json: '', signed: false });
        break;
      case 'content_block_delta':
        if (block?.open !== true) faults.push(`I2 a delta for block ${event.index}`);
        else if (FITS[event.delta.type]?.includes(block.type) !== true) faults.push(`I4 ${event.delta.type}`);
        else if (event.delta.type === 'input_json_delta') block.json += event.delta.partial_json;
        else if (event.delta.type === 'signature_delta') block.signed = event.delta.signature !== '';
        else if (block.signed) faults.push('a delta behind the signature');
        break;
      case 'content_block_stop':
        if (block?.open !== true) faults.push(`I2 a stop of block ${event.index}`);
        else block.open = false;
        if (block?.type === 'thinking' && !block.signed) faults.push('thinking without a signature');
        break;
      case 'message_delta':
        if (blocks.some(({ open }) => open)) faults.push('message_delta in an open block');
        if (typeof event.usage.output_tokens !== 'number' || event.usage.output_tokens < tokens) faults.push('I9');
        stop_reason = event.delta.stop_reason;
        break;
      case 'message_stop':
        stopped += 1;
        break;
      default:
        faults.push(`an event ${event.type}`);
    }
  }
  return whole ? [...faults, ...judgeEnd(blocks, stop_reason, stopped)] : faults;
}

function judgeEnd(blocks: readonly Block[], stop_reason: string | null, stopped: number): string[] {
  const faults: string[] = [];
  if (stopped !== 1) faults.push('no message_stop');
  if (stop_reason === null) faults.push('I7 no stop_reason');
  const cut =
    stop_reason === 'max_tokens' || stop_reason === 'refusal' || stop_reason === 'model_context_window_exceeded';
  const calls = blocks.filter(({ type }) => type === 'tool_use');
  if (!cut && (stop_reason === 'tool_use') !== calls.length > 0) faults.push(`I8 ${stop_reason}`);
  for (const { json } of cut ? [] : calls) {
    const input = JSON.parse(json);
    if (typeof input !== 'object' || input === null || Array.isArray(input)) faults.push(`I6 ${json}`);
  }
  return faults;
}
