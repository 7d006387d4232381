import { bulkLimit, sourcesInWarmUp, warmUpInWords } from '../outbound/index.js'
import { type DoctorDeps, type Finding, findingsOf } from './finding.js'

/** What to do if the address is not new. */
export const knownSender = 'set outbound.warm_up = "off" if the address is known as a sender'

/**
 * Tells how much may leave today from each source address in its warm-up, before anybody wonders why mail
 * waits.
 */
export async function checkWarmUp({ read, clock, config }: DoctorDeps): Promise<Finding[]> {
  const { outbound } = config
  const sources = await sourcesInWarmUp(read, clock.now(), config)
  return sources.map((source) => {
    const of = findingsOf('warm-up', source.address)
    const found = warmUpInWords(source, outbound)
    if (source.sent < bulkLimit(source.limit)) return of.ok(found)
    return of.warn(`${found}; the gate warm-up holds the rest until 00:00 UTC`, knownSender)
  })
}
