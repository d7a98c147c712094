/** Owns what a reader of the log gets of a call's content: nothing, that it is hidden, or all of it. Keeps nothing. */
import { PROTOCOLS } from '../protocols/registry.ts';
import type { CallContent, ContentStore, KeptBytes } from '../store/content-port.ts';
import type { Tenancy } from './actor.ts';
import type { Reply } from './contract.ts';
import { readAnswerTurn, readRequestTurns } from './conversation.ts';

/** The members of a call's detail that are about what was said in it. */
export type ShownContent = Pick<Reply<'GET /accounts/{account}/logs/{request}'>, 'content' | 'conversation' | 'raw'>;

/** What a reader gets of the call; what belongs to another account or workspace is as if it were not kept. Never rejects. */
export type ContentOf = (tenancy: Tenancy, requestId: string) => Promise<ShownContent>;

const NOTHING = { conversation: null, raw: null } as const;

/** `onFault`: content is kept and cannot be read, for the operator. */
export function createContentOf(
  store: Pick<ContentStore, 'find' | 'read'>,
  onFault: (requestId: string, cause: unknown) => void,
): ContentOf {
  return async (tenancy, requestId) => {
    try {
      const workspace = await store.find(tenancy.account, requestId);
      if (workspace === null || tenancy.workspaces?.includes(workspace) === false) {
        return { content: 'none', ...NOTHING };
      }
      if (!tenancy.may('content.read')) return { content: 'hidden', ...NOTHING };
      const content = await store.read(tenancy.account, requestId);
      return content === null ? { content: 'none', ...NOTHING } : await showContent(content);
    } catch (cause) {
      onFault(requestId, cause);
      return { content: 'unreadable', ...NOTHING };
    }
  };
}

async function showContent(content: CallContent): Promise<ShownContent> {
  const { request, upstreamRequest, response, upstreamResponse, stream, status } = content;
  const protocol = PROTOCOLS[content.protocol];
  const said = isCut(request) ? null : await readRequestTurns(protocol, request.bytes);
  // The beginning of a stream can be read without its end, the beginning of JSON cannot.
  const answered =
    isCut(response) && !stream ? null : readAnswerTurn(protocol, { bytes: response.bytes, stream, status });
  const requestText = textOf(request);
  const sent = upstreamRequest === 'same' ? request : upstreamRequest;
  return {
    content: 'shown',
    conversation:
      said === null && answered === null ? null : [...(said ?? []), ...(answered === null ? [] : [answered])],
    raw: {
      request: requestText,
      upstream_request: sent === null ? null : sent === request ? requestText : textOf(sent),
      response: textOf(response),
      upstream_response: upstreamResponse === null ? null : textOf(upstreamResponse),
      truncated: [request, sent, response, upstreamResponse].some((body) => body !== null && isCut(body)),
    },
  };
}

function isCut({ bytes, totalBytes }: KeptBytes): boolean {
  return bytes.length < totalBytes;
}

/** Bytes that are not UTF-8 are shown as the replacement character. */
function textOf({ bytes }: KeptBytes): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8');
}
