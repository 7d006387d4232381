import type { Plans } from '../billing/index.js'
import type { Clock } from '../clock/index.js'
import type { Backlog, ClassName, StreamDue } from '../deliveries/index.js'
import type { Log } from '../log/index.js'
import type { Store } from '../store/index.js'
import type { SurgeSettings } from '../surges/index.js'
import type { Renderer } from '../templates/index.js'
import type { AttachmentRules } from './attachments.js'

export interface EmailDeps {
  store: Store
  clock: Clock
  log: Log
  renderer: Renderer
  plans: Plans
  /** Tells the outbound threads what has fallen due; a lost ring costs a poll, never a mail. */
  ring: (due: readonly StreamDue[]) => void
  /**
   * Tells other nodes the same about mail that may be theirs; undefined if the appliance is alone.
   */
  ringOthers?: ((due: readonly StreamDue[]) => void) | undefined
  /** The country of phone numbers without an international prefix; ISO 3166, e.g. `NG`. */
  defaultCountry: string
  backlog: Backlog
  /** Deliveries that may wait at once; beyond it sends are refused with 503. */
  maxQueued: number
  attachments: AttachmentRules
  /** From how much on mail to people whom an account never mailed is held. */
  surges: SurgeSettings
  /** How long a delivery is tried before the appliance gives up, in ms. */
  retry: Readonly<Record<ClassName, { readonly maxAge: number }>>
}

/** Calls `make` once for each `deps`, when its result is first needed. */
export function oncePerDeps<Made>(make: (deps: EmailDeps) => Made): (deps: EmailDeps) => Made {
  const made = new WeakMap<EmailDeps, Made>()
  return (deps) => {
    const one = made.get(deps) ?? make(deps)
    made.set(deps, one)
    return one
  }
}
