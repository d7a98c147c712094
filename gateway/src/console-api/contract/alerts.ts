/** Defines the routes about alerts: the rules of an account, what they found, and what was delivered. */
import { z } from 'zod';
import { ALERT_CHANNELS, ALERT_EVENTS } from '../../store/ports/books/alerts.ts';
import { givenName, id, nothing, type RouteTable, time } from './row.ts';

const status = z.enum(['pending', 'delivered', 'failed']);
const timeOfDay = z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, 'expected a time of day such as 22:00');
/** By the clocks of the account; nothing is sent between them. */
const quiet = z.object({ from: timeOfDay, to: timeOfDay });
/** In the unit of the event: percent, days, or nano-USD; 0 where it has none. */
const threshold = z.string().regex(/^\d{1,19}$/, 'expected a whole number');

const rule = z.object({
  id,
  name: z.string(),
  event: z.enum(ALERT_EVENTS),
  threshold,
  channel: z.enum(ALERT_CHANNELS),
  /**
   * Where it is sent: the origin of a webhook, never its whole address; the recipients of email, joined by `, `. Empty:
   * the inbox.
   */
  receiver: z.string(),
  /** Null: as often as usual for the event. */
  renotify_hours: z.int().nullable(),
  quiet: quiet.nullable(),
  /** Null: not muted. May be past. */
  muted_until: time.nullable(),
  created_at: time,
});
const delivery = z.object({
  id: z.string(),
  at: time,
  status,
  attempts: z.int(),
  /** Of the last attempt. */
  error: z.string().nullable(),
  text: z.string(),
});
const given = {
  name: givenName,
  threshold,
  channel: z.enum(ALERT_CHANNELS),
  url: z.string().max(2_000).nullable(),
  /** Of email. */
  to: z.array(z.string().max(254)).max(10).nullable(),
  renotify_hours: z.int().min(1).max(720).nullable(),
  quiet: quiet.nullable(),
};

export const alertRoutes = {
  'GET /accounts/{account}/alerts': {
    summary: 'Lists the alert rules of the account, and what they found last, newest first.',
    access: 'alerts.read',
    reply: z.object({
      /** `last`: its last delivery. */
      rules: z.array(rule.extend({ last: delivery.nullable() })),
      inbox: z.array(
        z.object({
          id: z.string(),
          at: time,
          rule: z.object({ id, name: z.string() }),
          text: z.string(),
          /** The page of the console that mends it. */
          remedy: z.object({ label: z.string(), page: z.string() }).nullable(),
          /** Whether the caller has not seen it. */
          is_new: z.boolean(),
        }),
      ),
      /** Events that this account can observe. */
      events: z.array(z.enum(ALERT_EVENTS)),
      /** The recipients that the caller may choose for email. `none`: no mail server is configured. */
      email_to: z.enum(['none', 'members', 'anyone']),
    }),
  },
  'GET /accounts/{account}/alerts/unseen': {
    summary: 'Counts the alerts that the caller has not seen.',
    access: 'alerts.read',
    reply: z.object({ unseen: z.int() }),
  },
  'POST /accounts/{account}/alerts/seen': {
    summary: 'Marks the alerts until a time as seen by the caller.',
    access: 'alerts.read',
    body: z.strictObject({ until: time }),
    reply: nothing,
    peopleOnly: true,
  },
  'POST /accounts/{account}/alerts': {
    summary: 'Creates an alert. Only this response contains the secret that signs its webhooks.',
    access: 'alerts.write',
    body: z.strictObject({ event: z.enum(ALERT_EVENTS), ...given }).partial({
      threshold: true,
      url: true,
      to: true,
      renotify_hours: true,
      quiet: true,
    }),
    reply: rule.extend({ signing_secret: z.string().nullable() }),
  },
  'PATCH /accounts/{account}/alerts/{alert}': {
    summary:
      'Changes an alert; omitted members stay. A new channel or address replaces the signing secret. Members in `before` are as they were read: the change is refused if another user changed one since.',
    access: 'alerts.write',
    body: z
      .strictObject({
        ...given,
        muted_until: time.nullable(),
        before: z.strictObject({ receiver: z.string().max(4_000) }).partial(),
      })
      .partial(),
    reply: rule.extend({ signing_secret: z.string().nullable() }),
  },
  'DELETE /accounts/{account}/alerts/{alert}': {
    summary: 'Deletes an alert with its deliveries.',
    access: 'alerts.write',
    reply: nothing,
  },
  'POST /accounts/{account}/alerts/{alert}/test': {
    summary: 'Sends a test message.',
    access: 'alerts.write',
    body: nothing,
    reply: nothing,
  },
  'GET /accounts/{account}/alerts/{alert}/deliveries': {
    summary: 'Lists the last deliveries of an alert, newest first.',
    access: 'alerts.read',
    reply: z.object({ deliveries: z.array(delivery) }),
  },
} as const satisfies RouteTable;
