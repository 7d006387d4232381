import type { SuppressionReason } from '../suppression/index.js'

/**
 * Whether somebody gets marketing mail, or why not. People who were erased and added again also count as suppressed by
 * hand.
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

/** The suppression behind each state except `mailable`. */
export const reasonOf: Readonly<Record<Exclude<ContactState, 'mailable'>, SuppressionReason>> = {
  unsubscribed: 'unsubscribe',
  bounced: 'bounce',
  complained: 'complaint',
  suppressed: 'manual',
  erased: 'manual',
}

/** Whom to look for; every given criterion must match. */
export interface ContactSearch {
  /** Exactly this address, in any case. */
  email?: string | undefined
  /** How the address, the name, the last name or the phone number begins. */
  q?: string | undefined
  listId?: string | undefined
  state?: ContactState | undefined
  /** Members of this segment, as it was last brought up to date. */
  segmentId?: string | undefined
  /** Newest first, where `q` is absent; a list's contacts are in this order anyway. */
  newest?: boolean | undefined
}
