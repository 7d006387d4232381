import type { PauseReason } from '../billing/index.js'
import type { Config } from '../config/index.js'
import type { Totals } from './window.js'

/** `[protection]`: rates in millionths, the window in ms. */
export type ProtectionSettings = Config['protection']

/** What a rate calls for. */
export type Alarm = 'pause' | 'pause marketing' | 'warn'

/** The counter of each reason. */
export const counterOf = { bounce: 'bounces', complaint: 'complaints' } as const

/**
 * What the counts call for (decisions.md, 'Account protection'); undefined for nothing. Rates mean
 * something from `minRecipients` on; a pause of everything takes at least `minimum` bounces or
 * complaints. A warning becomes a pause of marketing if the rate of marketing mail alone calls for
 * it: from `minimum` bounces on, but from a single complaint on, as mailbox providers count these
 * from the first.
 */
export function alarmOf(
  totals: Omit<Totals, 'unproved'>,
  reason: PauseReason,
  settings: ProtectionSettings,
): Alarm | undefined {
  const counter = counterOf[reason]
  const { warn, pause, minimum } = settings[counter]
  const { recipients, [counter]: count } = totals
  if (recipients < settings.minRecipients) return undefined
  if (count >= minimum && reaches(count, recipients, pause)) return 'pause'
  if (!reaches(count, recipients, warn)) return undefined
  const { marketing_recipients: mailed, [`marketing_${counter}` as const]: ofMarketing } = totals
  const enough = reason === 'complaint' ? 1 : minimum
  const fromMarketing = ofMarketing >= enough && reaches(ofMarketing, mailed, warn)
  return fromMarketing ? 'pause marketing' : 'warn'
}

/** In whole numbers: 0.1 % of 1,000 is 1, not a little more. */
const reaches = (count: number, recipients: number, millionths: number) =>
  count > 0 && count * 1_000_000 >= recipients * millionths

/** From 0 to 1, since a report brings its recipient with it. */
export const rateOf = (count: number, recipients: number) => (recipients ? count / recipients : 0)

/** `12%`, `0.35%`. */
export const shownRate = (rate: number) => `${Number((rate * 100).toFixed(2))}%`
