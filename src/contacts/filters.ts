import type { SuppressionReason } from '../suppression/index.js'

/**
 * Whether marketing mail goes to somebody, or the reason for which it does not; who was erased and added again is among
 * those who are suppressed by hand, too.
 */
export const contactStates = [
  'mailable',
  'unsubscribed',
  'bounced',
  'complained',
  'suppressed',
  'erased',
] as const
export type ContactState = (typeof contactStates)[number]

/** The suppression that each state but `mailable` is. */
export const reasonOf: Readonly<Record<Exclude<ContactState, 'mailable'>, SuppressionReason>> = {
  unsubscribed: 'unsubscribe',
  bounced: 'bounce',
  complained: 'complaint',
  suppressed: 'manual',
  erased: 'manual',
}

/** Whom to look for; all that is given has to fit. */
export interface ContactSearch {
  /** Exactly this address, in any case. */
  email?: string | undefined
  /** How the address, the name, the last name or the phone number begins. */
  q?: string | undefined
  listId?: string | undefined
  state?: ContactState | undefined
  /** Who is in this segment, as it was brought up to date last. */
  segmentId?: string | undefined
  /** Newest first, where no beginning is looked for; those of a list are in this order anyway. */
  newest?: boolean | undefined
}
