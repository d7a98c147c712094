/** Emails one-time links to their recipients, where a mail server is configured. */
import { isMailAddress } from '../../config/file/mail-address.ts';
import type { Mail, SendMail } from '../../mail/mailer.ts';

/** Null: no mail server is configured, or the caller wants no email. */
export type LinkSent = { readonly ok: boolean; readonly problem: string | null } | null;

export interface LinkMails {
  /** Whether a mail server is configured. */
  isOn(): boolean;
  /** Sends the link for a member of the account to the address. Resolves within about ten seconds. */
  send(account: string, to: string, mail: Pick<Mail, 'subject' | 'paragraphs' | 'link'>): Promise<LinkSent>;
}

interface LinkMailParts {
  readonly sendMail: SendMail;
  isOn(): boolean;
  nowMs(): number;
}

/** Links that an account may send in a day: the mail server is the operator's, and recipients may be strangers. */
const DAILY_MAX = 100;
const DAY_MS = 86_400_000;

export function createLinkMails({ sendMail, isOn, nowMs }: LinkMailParts): LinkMails {
  let day = 0;
  const counts = new Map<string, number>();
  return {
    isOn,
    async send(account, to, mail) {
      if (!isOn()) return null;
      const today = Math.floor(nowMs() / DAY_MS);
      if (today !== day) counts.clear();
      day = today;
      const count = counts.get(account) ?? 0;
      if (count >= DAILY_MAX) {
        return { ok: false, problem: `This account has sent ${DAILY_MAX} links by email today, the maximum.` };
      }
      if (!isMailAddress(to)) return { ok: false, problem: `No email can be sent to ${to}: share the link yourself.` };
      counts.set(account, count + 1);
      const { isSent, problem } = await sendMail({
        ...mail,
        to: [to],
        footer: 'If you did not expect this message, ignore it: nothing changes unless the link is opened.',
        id: `lnk_${crypto.randomUUID()}`,
        createdAtMs: nowMs(),
      });
      return { ok: isSent, problem };
    },
  };
}
