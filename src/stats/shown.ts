import type { Counts } from './add-figures.js'

/** Figures as clients read them: counts, and rates between them (null where there is nothing to divide by). */
export interface Figures {
  /** Null by provider: who takes a mail is known once a server has answered. */
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
  /** Complained (proved), unsubscribed, opened and clicked (unique) of what servers and smart hosts have taken. */
  complaint: number | null
  unsubscribe: number | null
  open: number | null
  click: number | null
}

/** `ofProvider`: who takes a mail is not known when it is accepted, so these counts are null. */
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
 * To the millionth, which is more than a rate of mail can tell. What is told late (opens, bounces, complaints) is of
 * mail of days before, of which there are at least as many as were told of: they are in the whole too.
 */
export function ratio(part: number, whole: number): number | null {
  const of = Math.max(part, whole)
  return of === 0 ? null : Math.round((part / of) * 1_000_000) / 1_000_000
}
