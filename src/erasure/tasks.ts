import { type Clock, isoTime } from '../clock/index.js'
import { deleteContactsIn, findContact } from '../contacts/index.js'
import { ApiError } from '../errors/index.js'
import { eraseEntries } from '../forms/index.js'
import type { Log } from '../log/index.js'
import { addressKey, parseMailbox } from '../mime/index.js'
import type { Read, Store, Tx } from '../store/index.js'
import { eraseSuppressions } from '../suppression/index.js'
import {
  type AccountTask,
  changeState,
  createTask,
  findTask,
  listTasks,
  makeStepRuns,
} from '../tasks/index.js'
import { eraseConsent } from './erase-consent.js'
import { countWaiting, type ErasurePlace, erasePiece, mailsOf } from './pieces.js'
import { stays } from './stays.js'

interface ErasureDeps {
  store: Store
  clock: Clock
  log: Log
}

/** An erasure as its page sees it. */
export interface ErasureTask extends Omit<AccountTask, 'detail' | 'result'> {
  /** The address stays here until all is erased. */
  detail: { name: string; address?: string; place: ErasurePlace }
  result: { mails?: number; reason?: string }
}

export interface Erasures {
  /**
   * Erases the contact with an address, if there is one, and begins with the log. An erasure that has begun already, or
   * failed, goes on. Resolves with its number and what replaces the address. `alongside` is written in the same
   * transaction.
   */
  begin(
    accountId: string,
    email: string,
    startedBy: string,
    alongside?: (tx: Tx, task: ErasureTask) => Promise<unknown>,
  ): Promise<{ id: number; name: string }>
  /** Lets a failed erasure go on. */
  again(accountId: string, id: number): Promise<void>
  resume(): Promise<boolean>
  close(): Promise<void>
}

// How many of one account may be live: they take turns, a piece each.
const mostLive = 20
// How many tasks are searched; ended ones are kept for 30 days.
const mostLooked = 1_000
// How often a fault is met, ten seconds apart, before the task fails and somebody has to look at it.
const tries = 30

/** Throws a 404 unless the account has it. */
export async function findErasure(read: Read, accountId: string, id: number): Promise<ErasureTask> {
  const task = await findTask(read, accountId, id)
  if (task.kind !== 'erase') throw new ApiError('not_found', 'The account has no such task')
  return task as unknown as ErasureTask
}

/** As the API shows it. Throws a 404. */
export async function erasureAnswer(read: Read, accountId: string, id: number) {
  return shownErasure(await findErasure(read, accountId, id), await countWaiting(read, id))
}

/** The answer from a task that was read already. `waiting`: how many mails it waits for. */
export const shownErasure = (
  { id, state, detail, result, begunAt, endedAt }: ErasureTask,
  waiting: number,
) => ({
  id: String(id),
  state,
  name: detail.name,
  mails: result.mails ?? 0,
  waiting,
  reason: state === 'failed' ? (result.reason ?? null) : null,
  stays,
  begunAt: isoTime(begunAt),
  endedAt: isoTime(endedAt),
})

export function makeErasures(deps: ErasureDeps): Erasures {
  const { store, clock } = deps
  const work = (task: AccountTask) => step(deps, task as unknown as ErasureTask)
  const runs = makeStepRuns(deps, 'erase', work, { tries })
  return {
    async begin(accountId, email, startedBy, alongside) {
      const address = wholeAddress(email)
      const begun = await store.write(async (tx) => {
        const now = clock.now()
        const name = await eraseAtOnce(tx, accountId, address, now)
        const id = await takeOn(tx, { accountId, address, name, startedBy }, now)
        await alongside?.(tx, await findErasure(tx, accountId, id))
        return { id, name }
      }, accountId)
      runs.takeUp({ id: begun.id, accountId })
      return begun
    },
    async again(accountId, id) {
      await store.write(async (tx) => {
        await findErasure(tx, accountId, id)
        await goOn(tx, { accountId, id })
      }, accountId)
      runs.takeUp({ id, accountId })
    },
    resume: runs.resume,
    close: runs.close,
  }
}

/** The address alone, in lower case. Throws a 422. */
export function wholeAddress(email: string): string {
  const mailbox = parseMailbox(email.trim())
  if (mailbox !== undefined) return addressKey(mailbox.address)
  throw new ApiError('validation_error', `${email} is not an email address`, {
    status: 422,
    fields: { field: 'address' },
  })
}

/** What is done before the task begins, so that nothing more is sent. Resolves with what replaces the address. */
async function eraseAtOnce(
  tx: Tx,
  accountId: string,
  address: string,
  now: number,
): Promise<string> {
  const contact = await findContact(tx, accountId, address)
  const name = await eraseSuppressions(tx, accountId, address, now)
  if (contact !== undefined) await deleteContactsIn(tx, accountId, [contact.id], now)
  await eraseConsent(tx, accountId, { address, name })
  await eraseEntries(tx, accountId, address)
  return name
}

/** The address's task if it has not ended, else a new one. Throws a 409 when there are too many. */
async function takeOn(
  tx: Tx,
  made: { accountId: string; address: string; name: string; startedBy: string },
  now: number,
): Promise<number> {
  const { accountId, address, name, startedBy } = made
  const all = (await listTasks(tx, accountId, 'erase', mostLooked)) as unknown as ErasureTask[]
  const known = all.find(({ detail, state }) => detail.address === address && state !== 'done')
  if (known !== undefined) {
    if (known.state !== 'running') await goOn(tx, known, { in: 'mails' })
    return known.id
  }
  if (all.filter(({ state }) => state === 'running').length >= mostLive) {
    const message = `${mostLive} erasures are under way: wait until one has ended`
    throw new ApiError('conflict', message)
  }
  const detail = { name, address, place: { in: 'mails' } }
  const given = { accountId, kind: 'erase', state: 'running', total: 0 } as const
  return await createTask(tx, { ...given, detail, startedBy }, now)
}

/** Revives a failed task, from a given place or from where it was. Throws a 409 for any other task. */
async function goOn(
  tx: Tx,
  { accountId, id }: Pick<AccountTask, 'accountId' | 'id'>,
  from?: ErasurePlace,
): Promise<void> {
  const { detail, result } = await findErasure(tx, accountId, id)
  const { reason: _, ...known } = result
  const change = { from: ['failed'], to: 'running', endedAt: null, result: known } as const
  const place = from ?? detail.place
  await changeState(tx, { id, accountId }, { ...change, detail: { ...detail, place } })
}

/** Does the next piece; resolves with whether that was the last. */
async function step({ store, clock }: ErasureDeps, task: ErasureTask): Promise<boolean | 'later'> {
  const { id, accountId, detail } = task
  const { name, address, place } = detail
  if (address === undefined) return true
  const of = { taskId: id, accountId, replaced: { address, name } }
  const mails = await mailsOf(store.read, of, place)
  return await store.write(async (tx) => {
    const known = await findErasure(tx, accountId, id)
    // Otherwise somebody else has done this piece, or the task was stopped.
    const isSame = JSON.stringify(known.detail.place) === JSON.stringify(place)
    if (known.state !== 'running' || !isSame) return false
    const { next, mails: more } = await erasePiece(tx, { ...of, now: clock.now() }, place, mails)
    const erased = (known.result.mails ?? 0) + more
    const isOver = next === undefined
    await tx
      .updateTable('tasks')
      .set({
        done: erased,
        total: erased,
        detail: JSON.stringify(isOver ? { name, place } : { name, address, place: next }),
        result: JSON.stringify({ ...known.result, mails: erased }),
        ...(isOver && { state: 'done', ended_at: clock.now() }),
      })
      .where('id', '=', id)
      .execute()
    // A full round: every mail that waits for others was looked at.
    const isWaiting = place.in === 'others' && next?.in === 'others' && next.after === undefined
    return isWaiting ? 'later' : isOver
  }, accountId)
}
