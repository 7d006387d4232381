import type { Clock } from '../clock/index.js'
import type { ApplianceKey } from '../config/index.js'
import type { Store } from '../store/index.js'
import { type Challenges, makeChallenges } from './challenges.js'
import {
  type FailureLimits,
  type InvitationMails,
  makeFailureLimits,
  makeInvitationMails,
} from './failure-limits.js'
import { makePasswords, type Passwords } from './password.js'

/** What all that has to do with people's log-in needs; one a process. */
export interface PeopleDeps {
  store: Store
  clock: Clock
  key: ApplianceKey
  passwords: Passwords
  limits: FailureLimits
  challenges: Challenges
  invitationMails: InvitationMails
  /** Operators need a second factor, as the listener can be reached from elsewhere. */
  asksFactorOfOperators: boolean
}

/**
 * Adds what is kept in memory alone: failed log-ins, challenges, and how many invitations were
 * mailed.
 */
export function makePeople(
  given: Pick<PeopleDeps, 'store' | 'clock' | 'key' | 'asksFactorOfOperators'> & {
    passwords?: Passwords
  },
): PeopleDeps {
  const { clock } = given
  const memory = {
    limits: makeFailureLimits(clock),
    challenges: makeChallenges(clock),
    invitationMails: makeInvitationMails(clock),
  }
  return { passwords: makePasswords(), ...given, ...memory }
}
