import { dayMs } from '../clock/index.js'

/** Why somebody who sent in a form got no mail; the figures of the form tell them apart. */
export type HeldReason =
  | 'hidden field'
  | 'network'
  | 'domain'
  | 'address'
  | 'form'
  | 'careful'
  | 'stopped'
  | 'account'
  | 'suppressed'

/** How many confirmations a form sends at most; those of its networks and domains are of this form alone. */
export const formLimits = {
  networkAnHour: 5,
  networkADay: 20,
  /** Neighbours: a /24 of IPv4, a /48 of IPv6. */
  neighboursAnHour: 30,
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
} as const
