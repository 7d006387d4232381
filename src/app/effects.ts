import { type LandEvents, makeLandEvents } from '../events/index.js'
import { suppressFailing } from '../suppression/index.js'

/** What follows from what happens to a mail, the same in every thread and in the CLI. */
export function makeEffects(): LandEvents {
  return makeLandEvents([suppressFailing])
}
