import type { Clock } from '../clock/index.js'
import type { ApplianceKey } from '../config/index.js'
import type { Store } from '../store/index.js'
import { type Challenges, makeChallenges } from './challenges.js'
import {
  countedHere,
  type FailureLimits,
  type InvitationMails,
  makeFailureLimits,
  makeInvitationMails,
} from './failure-limits.js'
import { makePasswords, type Passwords } from './password.js'
import { countedTogether } from './shared-failures.js'

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
 * Adds the challenges, and what is kept in memory alone: how many invitations were mailed, and failed log-ins, which several
 * nodes count together (`isOneOfSeveral`).
 */
export function makePeople(
  given: Pick<PeopleDeps, 'store' | 'clock' | 'key' | 'asksFactorOfOperators'> & {
    passwords?: Passwords
    isOneOfSeveral?: boolean
  },
): PeopleDeps {
  const { isOneOfSeveral = false, ...deps } = given
  const { clock } = deps
  const made = {
    limits: isOneOfSeveral ? countedTogether(deps) : countedHere(makeFailureLimits(clock)),
    challenges: makeChallenges(deps),
    invitationMails: makeInvitationMails(clock),
  }
  return { passwords: makePasswords(), ...deps, ...made }
}
