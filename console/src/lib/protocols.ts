/** Names the request formats for people, and offers them as choices. */
import type { Reply } from '../../../gateway/src/console-api/contract/contract.ts';
import { forClientProtocols, PROTOCOLS } from '../../../gateway/src/protocols/names.ts';

export type Protocol = Reply<'GET /accounts/{account}/models'>['models'][number]['protocols'][number];

export const PROTOCOL_TITLES: { readonly [protocol in Protocol]: string } = forClientProtocols(
  (name) => PROTOCOLS[name].title,
);

/** For columns and narrow controls. */
export const PROTOCOL_LABELS: { readonly [protocol in Protocol]: string } = {
  ...PROTOCOL_TITLES,
  chat: 'Chat',
  completions: 'Completions',
};

export const PROTOCOL_CHOICES = Object.entries(PROTOCOL_TITLES) as [Protocol, string][];

/** What requests are recorded as: batches are not sent to one model. */
export const RECORDED_TITLES: { readonly [protocol in Protocol | 'batches']: string } = {
  ...PROTOCOL_TITLES,
  batches: 'Batches',
};

export const RECORDED_CHOICES = Object.entries(RECORDED_TITLES) as [keyof typeof RECORDED_TITLES, string][];
