import type { SharedCounts } from '../bounded/index.js'
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

/** What everything about people's log-in needs; one a process. */
export interface PeopleDeps {
  store: Store
  clock: Clock
  key: ApplianceKey
  passwords: Passwords
  limits: FailureLimits
  challenges: Challenges
  invitationMails: InvitationMails
  /** Operators need a second factor, because the listener can be reached from other machines. */
  asksFactorOfOperators: boolean
}

/**
 * Adds the challenges, and the counts in memory of mailed invitations and failed log-ins. Several nodes share both
 * counts (`counts`).
 */
export function makePeople(
  given: Pick<PeopleDeps, 'store' | 'clock' | 'key' | 'asksFactorOfOperators'> & {
    passwords?: Passwords
    /** The counts that are shared with other nodes; undefined without other nodes. */
    counts?: Pick<SharedCounts, 'of'> | undefined
  },
): PeopleDeps {
  const { counts, ...deps } = given
  const { clock } = deps
  const made = {
    limits: counts !== undefined ? countedTogether(deps) : countedHere(makeFailureLimits(clock)),
    challenges: makeChallenges(deps),
    invitationMails: makeInvitationMails(clock, counts),
  }
  return { passwords: makePasswords(), ...deps, ...made }
}
