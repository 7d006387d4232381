import type { Counts } from './add-figures.js'

/** Figures as clients read them: counts, and rates between them (null where there is nothing to divide by). */
export interface Figures {
  /** Null by provider: the provider of a mail is known only once a server has answered. */
  mails: number | null
  accepted: number | null
  suppressed: number
  answered: number
  delivered: number
  relayed: number
  bouncedHard: number
  bouncedSoft: number
  failed: number
  deferred: number
  complained: number
  complainedUnproved: number
  unsubscribed: number
  opened: number
  openedUnique: number
  openedByMachines: number
  clicked: number
  clickedUnique: number
  clickedByMachines: number
  rates: Rates
}

/** From 0 to 1. */
interface Rates {
  /** Delivered of answered. */
  delivery: number | null
  /** Bounced, hard and soft, of answered. */
  bounce: number | null
  /**
   * Complained (proved), unsubscribed, opened and clicked (unique), each divided by what servers and smart hosts have
   * taken.
   */
  complaint: number | null
  unsubscribe: number | null
  open: number | null
  click: number | null
}

/** `ofProvider`: the provider is not known when a mail is accepted, so these counts are null. */
export function shownFigures(counts: Counts, ofProvider: boolean): Figures {
  const { answered, delivered } = counts
  const taken = delivered + counts.relayed
  return {
    mails: ofProvider ? null : counts.mails,
    accepted: ofProvider ? null : counts.accepted,
    suppressed: counts.suppressed,
    answered,
    delivered,
    relayed: counts.relayed,
    bouncedHard: counts.bounced_hard,
    bouncedSoft: counts.bounced_soft,
    failed: counts.failed,
    deferred: counts.deferred,
    complained: counts.complained,
    complainedUnproved: counts.complained_unproved,
    unsubscribed: counts.unsubscribed,
    opened: counts.opened,
    openedUnique: counts.opened_unique,
    openedByMachines: counts.opened_machine,
    clicked: counts.clicked,
    clickedUnique: counts.clicked_unique,
    clickedByMachines: counts.clicked_machine,
    rates: {
      delivery: ratio(delivered, answered),
      bounce: ratio(counts.bounced_hard + counts.bounced_soft, answered),
      complaint: ratio(counts.complained, taken),
      unsubscribe: ratio(counts.unsubscribed, taken),
      open: ratio(counts.opened_unique, taken),
      click: ratio(counts.clicked_unique, taken),
    },
  }
}

/**
 * Rounded to a millionth, which is more than a rate of mail can tell. Opens, bounces and complaints may come days
 * after their mail. Where a part is larger than the whole for this reason, it is taken as the whole.
 */
export function ratio(part: number, whole: number): number | null {
  const of = Math.max(part, whole)
  return of === 0 ? null : Math.round((part / of) * 1_000_000) / 1_000_000
}
