import type { Read } from '../store/index.js'
import { type Cursors, readCursors, rowsBehind } from './cursors.js'
import type { Question } from './question.js'
import { addToGroup, type Collected, isAsked } from './read-figures.js'
import { readLogs } from './read-logs.js'
import { dayOf, type Happening, tally } from './tally.js'

// Of all accounts. The figures are seconds behind, but for the time after an update from an older version.
const maxBehind = 10_000
const rowsAtOnce = 250

/**
 * Adds what the logs have told since the figures were last brought forward, to each of `answers`. Where
 * that is more than can be read while a client waits, it is left out.
 */
export async function readTail(
  read: Read,
  accountId: string,
  answers: readonly { question: Question; collected: Collected }[],
): Promise<{ upToDate: boolean }> {
  const [first] = answers[0]?.collected.parts ?? []
  // The earliest that was read of the figures: behind it is all that any part may lack.
  let from = first?.cursors ?? (await readCursors(read))
  if ((await rowsBehind(read, from)) > maxBehind) return { upToDate: false }
  const happenings: Happening[] = []
  for (let more = true; more; ) {
    const slice = await readLogs(read, from, { accountId, limit: rowsAtOnce })
    happenings.push(...slice.happenings)
    ;({ next: from, more } = slice)
    await new Promise((resolve) => setImmediate(resolve))
  }
  for (const { question, collected } of answers) {
    for (const { fromDay, toDay, cursors } of collected.parts) {
      const lacking = happenings.filter(({ at, ...happening }) => {
        const day = dayOf(at)
        return day >= fromDay && day <= toDay && isBehind(happening, cursors)
      })
      for (const row of tally(lacking)) if (isAsked(row, question)) addToGroup(collected, row, row)
    }
  }
  return { upToDate: true }
}

const logCursor = { event: 'event_id', consent: 'consent_id', mail: 'mail_number' } as const

const isBehind = ({ log, id }: Pick<Happening, 'log' | 'id'>, cursors: Cursors) =>
  id > cursors[logCursor[log]]
