import {
  type AutomationDefinition,
  faultsOf,
  type LiquidDeps,
  lackingIn,
  type StepFault,
} from '../../automations/index.js'
import type { AccountBilling } from '../../billing/index.js'
import type { Read } from '../../store/index.js'
import { faultWords } from './fault-words.js'
import { type Unready, unwrittenMails } from './unready-words.js'

/** What prevents turning on the written automation: its own faults, and things that it names and that do not exist. */
export interface FaultsNow {
  faults: StepFault[]
  /** Mails that nobody has written yet: they are mended on another page. */
  unwritten: Unready[]
  /** The definition itself has no fault. */
  isSound: boolean
}

/** All faults, each once: a step without a sender also lacks a domain. */
export async function faultsNow(
  deps: LiquidDeps & { store: { read: Read } },
  billing: AccountBilling,
  definition: AutomationDefinition,
): Promise<FaultsNow> {
  const own = await faultsOf(deps, billing.accountId, definition)
  const lacking = await lackingIn(deps.store.read, billing, definition)
  const wordsOf = (one: StepFault) => `${one.key} ${faultWords(one, (key) => key)}`
  const said = new Set(own.map(wordsOf))
  const others = lacking.filter((one) => !said.has(wordsOf(one)))
  const unwritten = await unwrittenMails(deps.store.read, billing.accountId, definition)
  return { faults: [...own, ...others], unwritten, isSound: own.length === 0 }
}
