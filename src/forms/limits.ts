import { dayMs, hourMs } from '../clock/index.js'

/** Why somebody who sent in a form got no mail; the figures of the form tell them apart. */
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

/** How many confirmations a form sends at most; those of its networks and domains are of this form alone. */
export const formLimits = {
  /** Without a browser that has worked for it; those above it are asked an hour later. */
  networkAtOnce: 5,
  /** A stall, a shop or an office is one network. */
  networkAnHour: 30,
  networkADay: 100,
  /** Neighbours: a /24 of IPv4, a /48 of IPv6. */
  neighboursAnHour: 60,
  /** Of those that are asked later, so that a flood leaves no more rows. */
  laterAnHour: 60,
  domainAnHour: 100,
  anHour: 200,
  aDay: 1_000,
  /** In place of the two above, while confirmations come back: of those whose browser has worked for it, and of others. */
  workedAnHour: 60,
  carefulAnHour: 20,
  /** Of these, so that nobody takes all of them: one network, and its neighbours. */
  carefulNetworkAnHour: 1,
  carefulNeighboursAnHour: 2,
  /** An address gets one a day, and no more than three before it confirms. */
  perAddress: 3,
  addressEveryMs: dayMs,
  laterMs: hourMs,
} as const
