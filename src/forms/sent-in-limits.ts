import type { SharedCounts } from '../bounded/index.js'
import { type Clock, dayMs, hourMs } from '../clock/index.js'
import { makeRateLimiter, neighbourhoodOf, networkKey } from '../http/index.js'
import { formLimits, type HeldReason } from './limits.js'

interface Asked {
  formId: string
  isCareful: boolean
  /** A browser has worked for it (`work.ts`). */
  hasWorked?: boolean
  /** The client's IP address; undefined where nobody has told it. */
  network: string | undefined
  domain: string
}

type OfForm = Omit<Asked, 'domain' | 'network'> & Partial<Pick<Asked, 'network'>>

export type FormLimits = ReturnType<typeof makeFormLimits>

/**
 * Counts what a form may send, in memory and together with other nodes where there are some. A restart forgets it,
 * except what `form_addresses` has of each address.
 */
export function makeFormLimits(clock: Clock, counts?: Pick<SharedCounts, 'of'>) {
  const within = (windowMs: number) => (name: keyof typeof formLimits) =>
    makeRateLimiter({ requests: formLimits[name], windowMs }, clock, {
      together: counts?.of(`form ${name}`),
    })
  const [hourly, daily] = [within(hourMs), within(dayMs)]
  const network = [hourly('networkAnHour'), daily('networkADay')]
  const atOnce = hourly('networkAtOnce')
  const later = hourly('laterAnHour')
  const neighbours = hourly('neighboursAnHour')
  const domains = hourly('domainAnHour')
  const forms = [hourly('anHour'), daily('aDay')]
  const careful = hourly('carefulAnHour')
  const carefulNetwork = hourly('carefulNetworkAnHour')
  const carefulNeighbours = hourly('carefulNeighboursAnHour')
  const carefulLater = hourly('carefulLaterAnHour')
  const worked = hourly('workedAnHour')
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
    /** Whether one more address from a network may be asked at once without a browser's work. */
    mayAtOnce: ({ formId, network: from }: Pick<Asked, 'formId' | 'network'>): boolean =>
      from === undefined || atOnce.take(`${formId} ${networkKey(from)}`).allowed,
    /** Whether a form may keep one more person who is asked later. */
    mayLater: (formId: string): boolean => later.take(formId).allowed,
    /** Whether a careful form may ask one more of these, so that visitors have most of its mails. */
    mayLaterCareful: (formId: string): boolean => carefulLater.take(formId).allowed,
    /** Checked before anything is read: whether a network, or a domain, has had enough of this form. */
    ofSender({ formId, network: from, domain }: Asked): HeldReason | undefined {
      if (from !== undefined) {
        const isFree = network.every((one) => one.take(`${formId} ${networkKey(from)}`).allowed)
        if (!isFree || !neighbours.take(`${formId} ${neighbourhoodOf(from)}`).allowed)
          return 'network'
      }
      return ofDomain({ formId, domain })
    },
    ofDomain,
    /** Checked last, so that submissions that send nothing do not use up a form. */
    ofForm(asked: OfForm): HeldReason | undefined {
      if (asked.isCareful && !mayCareful(asked)) return 'careful'
      return forms.every((one) => one.take(asked.formId).allowed) ? undefined : 'form'
    },
  }
}
