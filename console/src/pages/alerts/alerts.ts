/** Words and inputs of alerts: what events are called, in which unit their threshold is, and what a form sends. */
import type { Body, Reply } from '../../../../gateway/src/console-api/contract/contract.ts';
import { shortUsd } from '../../lib/money.ts';
import { changesOf } from '../../policy/read.ts';

export type AlertsReply = Reply<'GET /accounts/{account}/alerts'>;
export type Rule = AlertsReply['rules'][number];
export type Found = AlertsReply['inbox'][number];
export type Delivery = NonNullable<Rule['last']>;
type Event = Rule['event'];
type Channel = Rule['channel'];

type Unit = 'percent' | 'of_usual' | 'days' | 'usd';

interface EventWords {
  readonly name: string;
  /** Label of the threshold; null: the event has none. */
  readonly threshold: { readonly label: string; readonly usual: string; readonly unit: Unit } | null;
  readonly hint: string;
}

export const EVENTS: Readonly<Record<Event, EventWords>> = {
  budget: {
    name: 'Budget used',
    threshold: { label: 'Percent of the budget', usual: '80', unit: 'percent' },
    hint: 'Budgets of the account, its workspaces, API keys and end users.',
  },
  balance: {
    name: 'Low balance',
    threshold: { label: 'Balance below (USD)', usual: '10', unit: 'usd' },
    hint: 'Once a day while the prepaid balance is below the amount.',
  },
  spend_anomaly: {
    name: 'Unusual spend',
    threshold: { label: 'Percent of the usual spend', usual: '300', unit: 'of_usual' },
    hint: 'The spend of a day, compared with the same weekday of the last four weeks.',
  },
  key_expiring: {
    name: 'API key expires',
    threshold: { label: 'Days before', usual: '14', unit: 'days' },
    hint: 'Once for each API key.',
  },
  key_unused: {
    name: 'API key unused',
    threshold: { label: 'Days without a request', usual: '90', unit: 'days' },
    hint: 'Once for each time an active API key is not used.',
  },
  provider_failing: {
    name: 'Provider failing',
    threshold: null,
    hint: 'Once a day while most requests to a provider fail.',
  },
  credential_refused: {
    name: 'Credential rejected',
    threshold: null,
    hint: 'A provider rejects a credential, or its quota is used up.',
  },
  model_retiring: {
    name: 'Model retires',
    threshold: { label: 'Days before', usual: '60', unit: 'days' },
    hint: 'Models that are served, by the dates of the catalog.',
  },
  ledger_trouble: {
    name: 'Ledger trouble',
    threshold: null,
    hint: 'Requests cannot be recorded, or the database takes no writes.',
  },
  reconciliation: {
    name: 'Invoice differs',
    threshold: { label: 'Percent of the billed amount', usual: '1', unit: 'percent' },
    hint: 'Once for each import, if a model differs from the records on a day.',
  },
};

export const CHANNELS: readonly (readonly [channel: Channel, word: string])[] = [
  ['inbox', 'Console only'],
  ['slack', 'Slack'],
  ['webhook', 'Webhook'],
  ['email', 'Email'],
];

/** `Budget used: 80%`. */
export function ruleText({ event, threshold }: Pick<Rule, 'event' | 'threshold'>): string {
  const { name } = EVENTS[event];
  const words = thresholdText(event, threshold);
  return words === '' ? name : `${name}: ${words}`;
}

function thresholdText(event: Event, threshold: string): string {
  switch (EVENTS[event].threshold?.unit) {
    case 'percent':
      return `${threshold}%`;
    case 'of_usual':
      return `${threshold}% of usual`;
    case 'days':
      return `${threshold} days`;
    case 'usd':
      return `below ${shortUsd(threshold)}`;
    case undefined:
      return '';
  }
}

export function isMuted({ muted_until }: Pick<Rule, 'muted_until'>, nowMs: number): boolean {
  return muted_until !== null && Date.parse(muted_until) > nowMs;
}

export interface AlertDraft {
  readonly event: Event;
  /** Empty: named after its event. */
  readonly name: string;
  /** As typed: a percentage or US dollars. */
  readonly threshold: string;
  readonly channel: Channel;
  /** Empty when a rule is changed: its address stays. */
  readonly url: string;
  /** Addresses, as typed: separated by commas or spaces. */
  readonly to: string;
  /** Times of day; both empty: none. */
  readonly quietFrom: string;
  readonly quietTo: string;
  /** Hours; empty: the usual. */
  readonly renotify: string;
}

export function newDraft(event: Event): AlertDraft {
  const threshold = EVENTS[event].threshold?.usual ?? '';
  return { event, name: '', threshold, channel: 'inbox', url: '', to: '', quietFrom: '', quietTo: '', renotify: '' };
}

export function draftOf({ event, name, threshold, channel, receiver, quiet, renotify_hours }: Rule): AlertDraft {
  return {
    ...{ event, name, channel, url: '', to: channel === 'email' ? receiver : '' },
    threshold: EVENTS[event].threshold?.unit === 'usd' ? usdText(threshold) : threshold,
    quietFrom: quiet?.from ?? '',
    quietTo: quiet?.to ?? '',
    renotify: renotify_hours === null ? '' : String(renotify_hours),
  };
}

export type DraftFaults = { readonly [member in 'threshold' | 'url' | 'to' | 'quiet' | 'renotify_hours']?: string };

const EXPECTED: Readonly<Record<Unit, string>> = {
  percent: 'Enter a whole number from 1 to 100.',
  of_usual: 'Enter a whole number from 110 to 10000.',
  days: 'Enter a whole number of days from 1 to 365.',
  usd: 'Enter an amount in USD, such as 10.',
};

/** `rule`: the one that is changed; null: a new one. */
export function faultsOf(draft: AlertDraft, rule: Rule | null): DraftFaults {
  const unit = EVENTS[draft.event].threshold?.unit;
  const isGood = unit === undefined || readThreshold(draft) !== null;
  const needsUrl = isHook(draft.channel) && draft.channel !== rule?.channel;
  const to = recipientsOf(draft);
  const hasRecipients = to.length >= 1 && to.length <= RECIPIENTS_MAX && to.every((one) => /^\S+@\S+$/.test(one));
  const hours = Number(draft.renotify);
  return {
    ...(isGood || unit === undefined ? {} : { threshold: EXPECTED[unit] }),
    ...(needsUrl && draft.url.trim() === '' ? { url: 'Enter the https address of the webhook.' } : {}),
    ...(draft.channel === 'email' && !hasRecipients
      ? { to: `Enter 1 to ${RECIPIENTS_MAX} email addresses, such as ada@example.com.` }
      : {}),
    ...((draft.quietFrom === '') === (draft.quietTo === '') ? {} : { quiet: 'Enter both times, or none.' }),
    ...(draft.renotify === '' || (Number.isInteger(hours) && hours >= 1 && hours <= 720)
      ? {}
      : { renotify_hours: 'Enter a whole number of hours from 1 to 720.' }),
  };
}

const RECIPIENTS_MAX = 10;

/** Whether the channel sends to an address of the web. */
export function isHook(channel: Channel): boolean {
  return channel === 'slack' || channel === 'webhook';
}

function recipientsOf({ to }: AlertDraft): string[] {
  return to.split(/[\s,;]+/).filter((address) => address !== '');
}

type AlertBody = Omit<Body<'POST /accounts/{account}/alerts'>, 'event' | 'channel' | 'url' | 'to'> & {
  channel?: Channel;
  url?: string | null;
  to?: string[];
};

/** What a draft changes of a rule: others may have changed the other members since the form was opened. */
export function changesTo(rule: Rule, draft: AlertDraft): Partial<AlertBody> & { before?: { receiver: string } } {
  const changes = changesOf<AlertBody>(bodyOf(draftOf(rule), rule), bodyOf(draft, rule));
  return { ...changes, ...(changes.channel === undefined ? {} : { before: { receiver: rule.receiver } }) };
}

/** The body of a draft without faults. */
export function bodyOf(draft: AlertDraft, rule: Rule | null): AlertBody {
  const threshold = readThreshold(draft) ?? '0';
  const to = recipientsOf(draft);
  const isSameReceiver =
    draft.channel === rule?.channel &&
    (draft.channel === 'email' ? to.join(', ') === rule.receiver : draft.url.trim() === '');
  const url = isHook(draft.channel) ? draft.url.trim() : null;
  return {
    name: draft.name.trim() || ruleText({ event: draft.event, threshold }),
    threshold,
    ...(isSameReceiver ? {} : { channel: draft.channel, url, ...(draft.channel === 'email' && { to }) }),
    quiet: draft.quietFrom === '' ? null : { from: draft.quietFrom, to: draft.quietTo },
    renotify_hours: draft.renotify === '' ? null : Number(draft.renotify),
  };
}

/** In the unit of the API; null: not one. */
function readThreshold({ event, threshold }: AlertDraft): string | null {
  const text = threshold.trim();
  switch (EVENTS[event].threshold?.unit) {
    case 'percent':
      return readWhole(text, 1, 100);
    case 'of_usual':
      return readWhole(text, 110, 10_000);
    case 'days':
      return readWhole(text, 1, 365);
    case 'usd': {
      const match = /^(\d{1,9})(?:\.(\d{1,9}))?$/.exec(text);
      const nano = match === null ? 0n : BigInt(`${match[1]}${(match[2] ?? '').padEnd(9, '0')}`);
      return nano === 0n ? null : nano.toString();
    }
    case undefined:
      return '0';
  }
}

function readWhole(text: string, from: number, to: number): string | null {
  const number = /^[1-9]\d{0,4}$/.test(text) ? Number(text) : 0;
  return from <= number && number <= to ? text : null;
}

/** `1500000000` → `1.5`. */
function usdText(nanoUsd: string): string {
  const digits = nanoUsd.padStart(10, '0');
  const fraction = digits.slice(-9).replace(/0+$/, '');
  return fraction === '' ? digits.slice(0, -9) : `${digits.slice(0, -9)}.${fraction}`;
}
