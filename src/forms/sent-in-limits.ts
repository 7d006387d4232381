import { type Clock, dayMs, hourMs } from '../clock/index.js'
import { makeRateLimiter } from '../http/index.js'
import { formLimits, type HeldReason } from './limits.js'

interface Asked {
  formId: string
  isCareful: boolean
  /** Undefined where nobody has told it. */
  network: string | undefined
  domain: string
}

/** Counts in memory what a form may send; a restart forgets it, but for what `form_addresses` has of each address. */
export function makeFormLimits(clock: Clock) {
  const hourly = (requests: number) => makeRateLimiter({ requests, windowMs: hourMs }, clock)
  const daily = (requests: number) => makeRateLimiter({ requests, windowMs: dayMs }, clock)
  const network = [hourly(formLimits.networkAnHour), daily(formLimits.networkADay)]
  const neighbours = hourly(formLimits.neighboursAnHour)
  const domains = hourly(formLimits.domainAnHour)
  const forms = [hourly(formLimits.anHour), daily(formLimits.aDay)]
  const careful = hourly(formLimits.carefulAnHour)
  return {
    /** Before anything is read: whether a network, or a domain, has had enough of this form. */
    ofSender({ formId, network: from, domain }: Asked): HeldReason | undefined {
      if (from !== undefined) {
        const isFree = network.every((one) => one.take(`${formId} ${from}`).allowed)
        if (!isFree || !neighbours.take(`${formId} ${shortened(from)}`).allowed) return 'network'
      }
      return domains.take(`${formId} ${domain}`).allowed ? undefined : 'domain'
    },
    /** Last, so that nobody uses up a form by what would not be sent. */
    ofForm({ formId, isCareful }: Asked): HeldReason | undefined {
      if (isCareful && !careful.take(formId).allowed) return 'careful'
      return forms.every((one) => one.take(formId).allowed) ? undefined : 'form'
    },
  }
}

/** An address of the network without the part that names a household: `203.0.113.0`, `2001:db8:1::`. */
export function shortened(address: string): string {
  if (address.includes(':')) return `${address.split(':').slice(0, 3).join(':')}::`
  return address.replace(/\.\d+$/, '.0')
}
