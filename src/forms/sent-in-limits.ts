import { type Clock, dayMs, hourMs } from '../clock/index.js'
import { makeRateLimiter, neighbourhoodOf, networkKey } from '../http/index.js'
import { formLimits, type HeldReason } from './limits.js'

interface Asked {
  formId: string
  isCareful: boolean
  /** A browser has worked for it (`work.ts`). */
  hasWorked?: boolean
  /** The address in the network; undefined where nobody has told it. */
  network: string | undefined
  domain: string
}

type OfForm = Omit<Asked, 'domain' | 'network'> & Partial<Pick<Asked, 'network'>>

export type FormLimits = ReturnType<typeof makeFormLimits>

/** Counts in memory what a form may send; a restart forgets it, but for what `form_addresses` has of each address. */
export function makeFormLimits(clock: Clock) {
  const hourly = (requests: number) => makeRateLimiter({ requests, windowMs: hourMs }, clock)
  const daily = (requests: number) => makeRateLimiter({ requests, windowMs: dayMs }, clock)
  const network = [hourly(formLimits.networkAnHour), daily(formLimits.networkADay)]
  const neighbours = hourly(formLimits.neighboursAnHour)
  const domains = hourly(formLimits.domainAnHour)
  const forms = [hourly(formLimits.anHour), daily(formLimits.aDay)]
  const careful = hourly(formLimits.carefulAnHour)
  const carefulNetwork = hourly(formLimits.carefulNetworkAnHour)
  const carefulNeighbours = hourly(formLimits.carefulNeighboursAnHour)
  const worked = hourly(formLimits.workedAnHour)
  const fairShare = (formId: string, from: string) =>
    carefulNetwork.take(`${formId} ${networkKey(from)}`).allowed &&
    carefulNeighbours.take(`${formId} ${neighbourhoodOf(from)}`).allowed
  const mayCareful = ({ formId, hasWorked = false, network: from }: OfForm): boolean => {
    if (hasWorked) return worked.take(formId).allowed
    return (from === undefined || fairShare(formId, from)) && careful.take(formId).allowed
  }
  const ofDomain = ({
    formId,
    domain,
  }: Pick<Asked, 'formId' | 'domain'>): HeldReason | undefined =>
    domains.take(`${formId} ${domain}`).allowed ? undefined : 'domain'
  return {
    /** Before anything is read: whether a network, or a domain, has had enough of this form. */
    ofSender({ formId, network: from, domain }: Asked): HeldReason | undefined {
      if (from !== undefined) {
        const isFree = network.every((one) => one.take(`${formId} ${networkKey(from)}`).allowed)
        if (!isFree || !neighbours.take(`${formId} ${neighbourhoodOf(from)}`).allowed)
          return 'network'
      }
      return ofDomain({ formId, domain })
    },
    ofDomain,
    /** Last, so that nobody uses up a form by what would not be sent. */
    ofForm(asked: OfForm): HeldReason | undefined {
      if (asked.isCareful && !mayCareful(asked)) return 'careful'
      return forms.every((one) => one.take(asked.formId).allowed) ? undefined : 'form'
    },
  }
}
