import type { MailVerdict, WhyMail } from '../../contacts/index.js'
import { type CauseView, causeView } from './words.js'

/** Why mail of a kind goes to somebody or does not. */
export interface WhyRow {
  name: string
  gets: boolean
  isStopped: boolean
  because: CauseView[]
}

/** The same for all marketing mail, each topic, and receipts. */
export function whyView(why: WhyMail, base: string, now: number): WhyRow[] {
  const row = (name: string, { gets, because }: MailVerdict, isStopped = false) => ({
    name,
    gets,
    isStopped,
    because: because.map((cause) => causeView(cause, base, now)),
  })
  const { marketing } = why
  return [
    row('All marketing mail', marketing),
    ...why.topics.map(({ name, gets, because }) => {
      // What stops all of it is not said again for each topic.
      const own = gets ? because : because.filter((cause) => !marketing.because.includes(cause))
      return row(`Topic “${name}”`, { gets, because: own }, !marketing.gets)
    }),
    row('Receipts and the like', why.transactional),
  ]
}
