import { keepNewest } from '../../bounded/index.js'
import {
  type Claimed,
  type SentLately,
  type Settlement,
  sentLately,
  settledAnew,
} from '../../deliveries/index.js'
import { messageOf } from '../../errors/index.js'
import { makeSeldom } from '../../log/index.js'
import type { OutboundDeps } from '../deps.js'

/**
 * Mail that this thread knows it has sent. A database that went back in time has this mail in its queue again: then
 * it is settled anew instead of sent again.
 */
export interface LatelySent {
  /** These settlements are committed. */
  note(settlements: readonly Settlement[]): void
  /** The end of a claimed delivery that has already left; undefined when none is known. */
  endOf(claimed: Claimed): Settlement | undefined
}

// More than can leave in two seconds: by then the appliance knows that its database went back, and ends.
const most = 20_000

/** Kept in memory, and in the journal for the next start where there is a journal. */
export function makeLatelySent({
  clock,
  log,
  journal,
}: Pick<OutboundDeps, 'clock' | 'log' | 'journal'>): LatelySent {
  const known = new Map<number, SentLately>()
  const seldom = makeSeldom(clock)
  return {
    note(settlements) {
      if (journal === undefined) return
      const sent = settlements.flatMap((settlement) => sentLately(settlement) ?? [])
      if (sent.length === 0) return
      for (const one of sent) keepNewest(known, one.id, one, most)
      try {
        journal.note(sent)
      } catch (error) {
        seldom(() =>
          log.warn(
            { cause: messageOf(error) },
            'What was sent cannot be noted in the data directory: after a loss of commits it would be sent again',
          ),
        )
      }
    },
    endOf(claimed) {
      const sent = known.get(claimed.id)
      return sent?.emailId === claimed.emailId ? settledAnew(claimed, sent) : undefined
    },
  }
}
