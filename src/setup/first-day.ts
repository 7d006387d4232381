import { rampInWords, rampLimit } from '../outbound/index.js'

/** What a new address may send on its first day. */
export const firstDayInWords = () =>
  `${rampInWords(1)}: ${rampLimit(1)} mails today (outbound.warm_up, warm_up_reserve)`
