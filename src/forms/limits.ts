import { dayMs, hourMs } from '../clock/index.js'

/** Why somebody who sent in a form got no mail; the form's figures tell the reasons apart. */
export type HeldReason =
  | 'hidden field'
  | 'network'
  | 'later'
  | 'domain'
  | 'address'
  | 'form'
  | 'careful'
  | 'stopped'
  | 'account'
  | 'suppressed'

/** How many confirmations a form sends at most. Limits for networks and domains hold for each form separately. */
export const formLimits = {
  /** Without work by a browser; people beyond this number are asked an hour later. */
  networkAtOnce: 5,
  /** A stall, a shop or an office is one network. */
  networkAnHour: 30,
  networkADay: 100,
  /** Neighbours: a /24 of IPv4, a /48 of IPv6. */
  neighboursAnHour: 60,
  /** How many are kept to be asked later, so that a flood leaves no more rows. */
  laterAnHour: 60,
  domainAnHour: 100,
  anHour: 200,
  aDay: 1_000,
  /**
   * These replace the two above while confirmations come back: for visitors whose browser has worked for it, and for
   * others.
   */
  workedAnHour: 60,
  carefulAnHour: 20,
  /** Of those, the share of one network and of its neighbours, so that nobody takes all. */
  carefulNetworkAnHour: 1,
  carefulNeighboursAnHour: 2,
  /** Also of those: people who were kept to be asked later, whose networks are forgotten by then. */
  carefulLaterAnHour: 5,
  /** An address gets one a day, and no more than three before it confirms. */
  perAddress: 3,
  addressEveryMs: dayMs,
  laterMs: hourMs,
} as const
