/** Creates the one-time links that commands can issue: for set-up and for password resets. */
import type { PeopleStore } from '../store/ports/people.ts';
import { createResetLinks, type ResetLinks } from './members/password-resets.ts';
import { createSetUp, type SetUp } from './members/set-up.ts';

export interface LinkMakers {
  readonly makeSetUp: SetUp['makeLink'];
  readonly makeReset: ResetLinks['makeByEmail'];
}

/** `nowMs`: unix ms. */
export function createLinkMakers(people: PeopleStore, nowMs: () => number): LinkMakers {
  return { makeSetUp: createSetUp(people, nowMs).makeLink, makeReset: createResetLinks(people, nowMs).makeByEmail };
}
