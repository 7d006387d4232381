import type { Config } from '../config/index.js'
import { type LandEvents, makeLandEvents } from '../events/index.js'
import { makeProtection } from '../protection/index.js'
import { suppressFailing } from '../suppression/index.js'

/** What follows from what happens to a mail, the same in every thread and in the CLI. */
export function makeEffects(config: Config): LandEvents {
  return makeLandEvents([suppressFailing, makeProtection(config.protection)])
}
