/** Runs a writer thread that stores nothing: it refuses each operation with the number of the batch that it came in. */
import { parseOperations } from '../operations/ledger-operations.ts';
import type { WriterPort } from '../operations/serve-writer.ts';
import type { WriterReply, WriterRequest } from '../operations/writer-messages.ts';

declare const self: Worker;

const port: WriterPort = self;
let batches = 0;

function answer(request: WriterRequest): WriterReply {
  if (typeof request === 'string') {
    batches += 1;
    const operations = parseOperations(request);
    const fault = { kind: 'conflict', message: `batch ${batches}` } as const;
    return { failed: null, refused: operations.map((_, index) => ({ index, fault })), writes: [] };
  }
  if (request.kind === 'open') {
    return { opened: { epoch: 1, recovered: { posted: 0, voided: 0 }, drained: { settled: 0, problems: [] } } };
  }
  return true;
}

port.onmessage = ({ data }) => port.postMessage(answer(data));
