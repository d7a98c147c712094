/** Tests what the passkey routes cannot show: a restart, a flood, and cookies of the other kind of page. */
import { expect, test } from 'bun:test';
import type { Arrival } from '../sign-in/auth-cookies.ts';
import { CHALLENGE_MS, createPasskeyChallenges, type PasskeyChallenges } from './passkey-challenges.ts';

function arrive(cookie: string, isForwardedHttps = false): Arrival {
  return { headers: new Headers({ cookie }), address: null, isForwardedHttps };
}

/** A browser that got a challenge, and its challenge. */
function ask(challenges: PasskeyChallenges, isHttps = false): { readonly cookie: string; readonly challenge: string } {
  const outgoing = new Headers();
  const challenge = challenges.ask('sign in', arrive('', isHttps), outgoing);
  return { cookie: outgoing.getSetCookie()[0]?.split(';', 1)[0] ?? '', challenge };
}

test('one works once, for its purpose', () => {
  const challenges = createPasskeyChallenges(() => 0);
  const { cookie, challenge } = ask(challenges);
  expect(challenges.take('make ses_1', arrive(cookie))).toBeNull();
  expect(challenges.take('sign in', arrive(cookie))).toBe(challenge);
  expect(challenges.take('sign in', arrive(cookie))).toBeNull();
});

test('challenges from before a restart are invalid: the list of used ones is lost', () => {
  const { cookie } = ask(createPasskeyChallenges(() => 0));
  expect(createPasskeyChallenges(() => 0).take('sign in', arrive(cookie))).toBeNull();
});

test('a page over https returns only cookies set over https', () => {
  const challenges = createPasskeyChallenges(() => 0);
  const plain = ask(challenges);
  expect(challenges.take('sign in', arrive(plain.cookie, true))).toBeNull();
  const secure = ask(challenges, true);
  expect(secure.cookie).toStartWith('__Host-tollgate.passkey=');
  expect(challenges.take('sign in', arrive(secure.cookie, true))).toBe(secure.challenge);
});

test('a flood is refused rather than let anything be taken twice, and is over after five minutes', () => {
  let nowMs = 0;
  const challenges = createPasskeyChallenges(() => nowMs);
  const first = ask(challenges);
  const take = ({ cookie }: { cookie: string }) => challenges.take('sign in', arrive(cookie));
  expect(take(first)).not.toBeNull();
  for (let nth = 1; nth < 100_000; nth += 1) take(ask(challenges));
  expect(() => take(ask(challenges))).toThrow('too many passkey sign-ins');
  expect(take(first)).toBeNull();
  nowMs += CHALLENGE_MS + 1;
  expect(take(ask(challenges))).not.toBeNull();
});
