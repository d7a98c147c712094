/**
 * Sends messages through the configured SMTP server, one connection each. Connects to no other host; trusts only
 * certificates of the system's authorities.
 */
import type { ServerConfig, SmtpConfig } from '../config/config.ts';

const TIMEOUT_MS = 30_000;
const CONNECT_MS = 10_000;
const PROBLEM_CHARACTERS_MAX = 200;
/** Messages that only some of their recipients have. */
const INCOMPLETE_MAX = 1_000;

/** A message of plain text; everything in it may be from strangers. */
export interface Mail {
  /** Addresses as `isMailAddress` accepts. */
  readonly to: readonly string[];
  readonly subject: string;
  readonly paragraphs: readonly string[];
  readonly link: { readonly label: string; readonly url: string } | null;
  /** Why the recipient gets it, in small print. */
  readonly footer: string;
  /** Makes the Message-ID: a message that is sent again is recognized by it. */
  readonly id: string;
  readonly createdAtMs: number;
}

export interface MailResult {
  /** Whether the server took the message for at least one recipient, and trying again helps none. */
  readonly isSent: boolean;
  /** What went wrong, without credentials; also the recipients that the server refused. Null: nothing. */
  readonly problem: string | null;
}

/** Never rejects for what the server does. */
export type SendMail = (mail: Mail) => Promise<MailResult>;

const NOT_CONFIGURED = 'Email is not configured: set server.smtp in the configuration file.';

/**
 * `server`: as configured now. `ca`: authorities to trust instead of the system's, PEM; for tests. `timeoutMs`: of a
 * whole attempt.
 */
export function createMailer(
  server: () => Pick<ServerConfig, 'smtp' | 'publicUrl'>,
  { ca, timeoutMs = TIMEOUT_MS }: { readonly ca?: string; readonly timeoutMs?: number } = {},
): SendMail {
  /** Recipients that the server deferred, by the id of a message that others have. */
  const left = new Map<string, readonly string[]>();
  return async (mail) => {
    const { smtp: config, publicUrl } = server();
    if (config === null) return { isSent: false, problem: NOT_CONFIGURED };
    // Imported here, not above: it takes 7 MB, and most gateways send no mail.
    const { createTransport } = await import('nodemailer');
    const transport = createTransport({
      host: config.host,
      port: config.port,
      secure: config.encryption === 'tls',
      // Never sends in plain text what should be encrypted.
      requireTLS: config.encryption === 'starttls',
      ignoreTLS: config.encryption === 'none',
      ...(config.login !== null && {
        auth: { user: config.login.user, pass: config.login.password.reveal() },
        forceAuth: true,
      }),
      tls: { minVersion: 'TLSv1.2', ...(ca !== undefined && { ca }) },
      name: URL.parse(publicUrl ?? '')?.hostname ?? 'localhost',
      connectionTimeout: CONNECT_MS,
      greetingTimeout: timeoutMs,
      socketTimeout: timeoutMs,
      dnsTimeout: CONNECT_MS,
      disableFileAccess: true,
      disableUrlAccess: true,
    });
    try {
      const [, domain] = config.from.split('@');
      const { text, html } = renderMail(mail);
      const { rejectedErrors = [] } = await transport.sendMail({
        envelope: { from: config.from, to: [...(left.get(mail.id) ?? mail.to)] },
        from: { name: 'Tollgate', address: config.from },
        to: mail.to.map((address) => ({ name: '', address })),
        subject: mail.subject.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' '),
        text,
        html,
        messageId: `<${mail.id}@${domain}>`,
        date: new Date(mail.createdAtMs),
        // RFC 3834: programs do not answer it.
        headers: { 'Auto-Submitted': 'auto-generated' },
        signal: AbortSignal.timeout(timeoutMs),
      });
      const deferred = rejectedErrors.filter((refusal) => !isForGood(refusal));
      const again = deferred.flatMap(({ recipient }) => recipient ?? []);
      if (left.size >= INCOMPLETE_MAX) left.clear();
      if (again.length === 0) left.delete(mail.id);
      else left.set(mail.id, again);
      const refusals = rejectedErrors.map((one) => one.message).join('; ');
      return { isSent: deferred.length === 0, problem: refusals === '' ? null : shown(config, refusals) };
    } catch (cause) {
      // Every recipient who is left was refused.
      const isOver = cause instanceof Error && 'rejectedErrors' in cause && isForGood(cause) && left.delete(mail.id);
      return { isSent: isOver, problem: shown(config, cause instanceof Error ? cause.message : String(cause)) };
    } finally {
      transport.close();
    }
  };
}

/** 5xx: final; 4xx defers (RFC 5321, 4.2.1). If all recipients were refused, the reply is one that defers, if there is any. */
function isForGood(refusal: Error): boolean {
  return 'responseCode' in refusal && typeof refusal.responseCode === 'number' && refusal.responseCode >= 500;
}

/** A server may repeat what it was sent, also as base64 (RFC 4954, 4 and RFC 4616). */
function shown({ host, login }: SmtpConfig, problem: string): string {
  const { user, password } = login === null ? { user: '', password: null } : login;
  const secret = password?.reveal() ?? '';
  const forms = [secret, base64(secret), base64(`\0${user}\0${secret}`)].filter((form) => form !== '');
  const plain = forms.reduce((text, form) => text.replaceAll(form, '[secret]'), problem);
  return `${host}: ${plain.replaceAll(/[\p{Cc}\s]+/gu, ' ').trim()}`.slice(0, PROBLEM_CHARACTERS_MAX);
}

const base64 = (text: string) => Buffer.from(text).toString('base64');

/** Plain text, and HTML that contains no markup of others, no image and nothing remote. */
function renderMail({ paragraphs, link, footer }: Pick<Mail, 'paragraphs' | 'link' | 'footer'>): {
  readonly text: string;
  readonly html: string;
} {
  const action = link === null ? [] : [`${link.label}:\n${link.url}`];
  const button = link === null ? [] : [`<p><a href="${escapeHtml(link.url)}">${escapeHtml(link.label)}</a></p>`];
  return {
    text: `${[...paragraphs, ...action, `-- \n${footer}`].join('\n\n')}\n`,
    html: [
      '<!doctype html><html><body style="font-family: sans-serif; font-size: 15px; line-height: 1.5">',
      ...paragraphs.map((one) => `<p>${escapeHtml(one)}</p>`),
      ...button,
      `<p style="font-size: 13px; color: #666">${escapeHtml(footer)}</p>`,
      '</body></html>',
    ].join('\n'),
  };
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}
