import { ApiError } from '../errors/index.js'
import type { Read } from '../store/index.js'
import { type AskFirst, standingOn, whyNotAsked } from './ask-first.js'
import { contactsAmong } from './some.js'

type NotAsked = keyof typeof whyNotAsked

/** The result of asking several people at once. */
export interface AskedSome {
  asked: number
  /** How many are on the list already. */
  on: number
  /** How many were not asked, by reason. */
  held: Map<NotAsked, number>
}

/**
 * Asks by mail those of some contacts who are not on a list that asks people first. Throws what the account may not do.
 * People who were asked before stay asked: asking again sends nobody a second mail.
 */
export async function askSome(
  { read, askFirst }: { read: Read; askFirst: AskFirst },
  accountId: string,
  {
    listId,
    ids,
    note,
    starts,
  }: { listId: string; ids: readonly string[]; note: string; starts: boolean },
): Promise<AskedSome> {
  const came: AskedSome = { asked: 0, on: 0, held: new Map() }
  for (const { email } of await contactsAmong(read, accountId, ids)) {
    if ((await standingOn(read, accountId, email, [listId])) !== 'off') {
      came.on++
      continue
    }
    try {
      await askFirst(accountId, { given: { email }, listIds: [listId], note, starts })
      came.asked++
    } catch (error) {
      const reason = reasonIn(error)
      if (reason === undefined) throw error
      came.held.set(reason, (came.held.get(reason) ?? 0) + 1)
    }
  }
  return came
}

/** Why nobody was asked, from an error that says so. */
function reasonIn(error: unknown): NotAsked | undefined {
  if (!(error instanceof ApiError)) return undefined
  return (Object.keys(whyNotAsked) as NotAsked[]).find((one) => one === error.fields.reason)
}
