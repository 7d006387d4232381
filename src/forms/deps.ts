import type { SharedCounts } from '../bounded/index.js'
import type { ContactEffect } from '../contacts/index.js'
import type { EmailDeps } from '../emails/index.js'
import type { SignupTokens } from './links.js'
import type { FormTallies } from './tallies.js'

/** What taking in forms, and sending their mail, needs. */
export interface FormDeskDeps extends EmailDeps {
  publicUrl: string
  tokens: SignupTokens
  tallies: FormTallies
  /** What happens when somebody joins a list. */
  follow: ContactEffect
  /** Called once that is on disk. */
  followed: () => void
  /** What other nodes count too; undefined where there are none. */
  counts?: Pick<SharedCounts, 'of'> | undefined
}
