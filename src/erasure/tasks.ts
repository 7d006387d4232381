import type { Clock } from '../clock/index.js'
import { deleteContactsIn, findContact } from '../contacts/index.js'
import { listEmails } from '../emails/index.js'
import { ApiError } from '../errors/index.js'
import { eraseEntries } from '../forms/index.js'
import type { Log } from '../log/index.js'
import { addressKey, parseMailbox } from '../mime/index.js'
import type { Read, Store, Tx } from '../store/index.js'
import { eraseSuppressions } from '../suppression/index.js'
import { type AccountTask, createTask, findTask, makeStepRuns } from '../tasks/index.js'
import { endpointsOf, eraseAudit, eraseConsent, eraseWebhooks } from './erase-logs.js'
import { eraseMail } from './erase-mail.js'

interface ErasureDeps {
  store: Store
  clock: Clock
  log: Log
}

/** Where an erasure goes on. */
interface Place {
  in: 'mails' | 'webhooks' | 'audit'
  /** Of mails: the last one that was looked at. */
  before?: string | undefined
  /** Of webhooks: how many logs of endpoints are done with. */
  logs?: number
  /** Of logs: the last row that was looked at. */
  after?: number | undefined
}

/** An erasure as its page sees it. */
export interface ErasureTask extends Omit<AccountTask, 'detail' | 'result'> {
  /** The address stands here until all is erased. */
  detail: { name: string; address?: string; place: Place }
  result: { mails?: number; reason?: string }
}

export interface Erasures {
  /** Erases the contact, and begins with the log; resolves with the task's number and what stands for the address. */
  begin(
    accountId: string,
    email: string,
    startedBy: string,
    alongside?: (tx: Tx, task: ErasureTask) => Promise<unknown>,
  ): Promise<{ id: number; name: string }>
  resume(): Promise<void>
  close(): Promise<void>
}

const mailsAStep = 20

/** Throws a 404 unless the account has it. */
export async function findErasure(read: Read, accountId: string, id: number): Promise<ErasureTask> {
  const task = await findTask(read, accountId, id)
  if (task.kind !== 'erase') throw new ApiError('not_found', 'The account has no such task')
  return task as unknown as ErasureTask
}

export function makeErasures(deps: ErasureDeps): Erasures {
  const { store, clock } = deps
  const runs = makeStepRuns(deps, 'erase', (task) => step(deps, task as unknown as ErasureTask))
  return {
    async begin(accountId, email, startedBy, alongside) {
      const mailbox = parseMailbox(email)
      if (mailbox === undefined) {
        throw new ApiError('validation_error', 'email is not an email address')
      }
      const address = addressKey(mailbox.address)
      const begun = await store.write(async (tx) => {
        const now = clock.now()
        const contact = await findContact(tx, accountId, address)
        // First of all, so that nothing more is sent.
        const name = await eraseSuppressions(tx, accountId, address, now)
        if (contact !== undefined) await deleteContactsIn(tx, accountId, [contact.id], now)
        await eraseConsent(tx, accountId, { address, name })
        await eraseEntries(tx, accountId, address)
        const detail = { name, address, place: { in: 'mails' } }
        const made = { accountId, kind: 'erase', state: 'running', total: 0 } as const
        const id = await createTask(tx, { ...made, detail, startedBy }, now)
        await alongside?.(tx, await findErasure(tx, accountId, id))
        return { id, name }
      })
      runs.takeUp({ id: begun.id, accountId })
      return begun
    },
    resume: runs.resume,
    close: runs.close,
  }
}

/** Does the next piece; resolves with whether that was the last. */
async function step({ store, clock }: ErasureDeps, task: ErasureTask): Promise<boolean> {
  const { id, accountId, detail } = task
  const { name, address, place } = detail
  if (address === undefined) return true
  const replaced = { address, name }
  const isMails = place.in === 'mails'
  const mails = isMails
    ? await listEmails(
        store.read,
        accountId,
        { to: address },
        { limit: mailsAStep, before: place.before },
      )
    : undefined
  const endpoints = place.in === 'webhooks' ? await endpointsOf(store.read, accountId) : []
  return await store.write(async (tx) => {
    const known = await findErasure(tx, accountId, id)
    // Somebody else has done this piece, or it was stopped.
    const isSame = JSON.stringify(known.detail.place) === JSON.stringify(place)
    if (known.state !== 'running' || !isSame) return false
    let next: Place | undefined
    if (mails !== undefined) {
      for (const mail of mails.emails) await eraseMail(tx, mail.id, replaced, clock.now())
      next = mails.next === undefined ? { in: 'webhooks' } : { in: 'mails', before: mails.next }
    } else if (place.in === 'webhooks') {
      next = await webhookPiece(tx, endpoints, place, replaced)
    } else {
      const after = await eraseAudit(tx, accountId, replaced, place.after ?? 0)
      next = after === undefined ? undefined : { in: 'audit', after }
    }
    const erased = (known.result.mails ?? 0) + (mails?.emails.length ?? 0)
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
    return isOver
  })
}

/** A piece of the log of one endpoint, and of what waits for it; then the next one's. */
async function webhookPiece(
  tx: Tx,
  endpoints: readonly string[],
  { logs = 0, after = 0 }: Place,
  replaced: { address: string; name: string },
): Promise<Place> {
  const endpoint = endpoints[Math.floor(logs / 2)]
  if (endpoint === undefined) return { in: 'audit' }
  const table = logs % 2 === 0 ? 'webhook_jobs' : 'webhook_deliveries'
  const next = await eraseWebhooks(tx, table, endpoint, replaced, after)
  return next === undefined
    ? { in: 'webhooks', logs: logs + 1 }
    : { in: 'webhooks', logs, after: next }
}
