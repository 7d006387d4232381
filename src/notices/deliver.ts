import { type Clock, dayMs, isRecent } from '../clock/index.js'
import { messageOf } from '../errors/index.js'
import type { Log } from '../log/index.js'
import { type Store, sinceCommit, type Tx } from '../store/index.js'
import type { OperatorMessage } from './compose.js'
import type { NoticeMailRead } from './read.js'

/** A way to the operator that needs neither the queue nor the database: a relay, a command. */
export interface Way {
  /** `relay smtp.example.net:587`, `command /usr/local/bin/page`. */
  name: string
  /**
   * Rejects with what went wrong; resolves with the reply. `id` is the mail's, the same at each try.
   */
  send(mail: OperatorMessage, id: string): Promise<string>
}

/** What watching over mails to the operator needs. */
export interface NoticeDeliveryDeps {
  store: Store
  clock: Clock
  log: Log
  /** In the order in which they are tried. */
  ways: readonly Way[]
  /** How long the queue may take before the other ways are tried. */
  afterMs: number
  /** Whether the queue stands still, so that waiting for it is useless. */
  isStuck(): Promise<boolean>
  /** Removes a mail from the queue that left by another way. */
  withdraw(tx: Tx, emailId: string): Promise<void>
}

// How soon a mail is tried again by the other ways, so that a refusing relay is not asked at each
// check.
const againMs = 300_000

/**
 * Watches over mails to the operator: a mail that the queue does not deliver within its time leaves by
 * another way. A kill before this is noted may deliver it twice, with the same Message-ID.
 */
export function makeDelivery(deps: NoticeDeliveryDeps): () => Promise<void> {
  const { store, clock, log, ways, withdraw } = deps
  const triedAt = new Map<number, number>()
  const note = (id: number, outcome: Pick<NoticeMailRead, 'state' | 'path' | 'result'>) => {
    triedAt.delete(id)
    return (tx: Tx) =>
      tx.updateTable('notice_mails').set(outcome).where('id', '=', id).executeTakeFirst()
  }

  const tend = async (mail: NoticeMailRead) => {
    const { id, at, email_id: emailId, subject } = mail
    const queued = emailId === null ? undefined : await fateOf(store, emailId)
    if (queued?.kind === 'delivered') {
      const result = queued.reply
      await store.write(note(id, { state: 'sent', path: 'queue', result }))
      return
    }
    const now = clock.now()
    const waits = queued?.kind === 'waiting'
    const isYoung = isRecent(at, now, deps.afterMs)
    if (waits && isYoung && !(await deps.isStuck())) return
    const last = triedAt.get(id)
    if (last !== undefined && isRecent(last, now, againMs)) return
    triedAt.set(id, now)
    const left = await sendBy(ways, mail, emailId ?? `notice-${id}-${at}`)
    if ('path' in left) {
      log.warn(
        { subject, ...left },
        'A mail to the operator has left by another way than the queue',
      )
      await store.write(async (tx) => {
        await note(id, { state: 'sent', ...left })(tx)
        if (emailId !== null && waits) await withdraw(tx, emailId)
      })
      return
    }
    // The queue still tries. With neither queue nor other way, only the log is left.
    if (waits) return
    const why = [queued?.reply ?? '', ...left.failures].filter((one) => one !== '').join('; ')
    const result = why === '' ? 'operator.notify is not set, and there is no command' : why
    if (ways.length > 0 && now - at < giveUpMs) {
      log.error({ subject, result }, 'A mail to the operator cannot be sent; it is tried again')
      return
    }
    log.error({ subject, result }, 'A mail to the operator was not sent')
    await store.write(note(id, { state: 'failed', path: 'log', result }))
  }

  const latest = sinceCommit(store, () =>
    store.read
      .selectFrom('notice_mails')
      .selectAll()
      .orderBy('id', 'desc')
      .limit(mostLooked)
      .execute(),
  )
  return async () => {
    for (const mail of (await latest()).toReversed()) {
      if (mail.state === 'waiting' && mail.kind !== 'report') await tend(mail)
    }
  }
}

// How many of the latest mails are watched, and how long each is tried.
const mostLooked = 50
const giveUpMs = 2 * dayMs

/** Sends by the first way that takes it. Never rejects. */
export async function sendBy(
  ways: readonly Way[],
  mail: OperatorMessage,
  id: string,
): Promise<{ path: string; result: string } | { failures: string[] }> {
  const failures: string[] = []
  for (const way of ways) {
    try {
      return { path: way.name, result: await way.send(mail, id) }
    } catch (error) {
      failures.push(`${way.name}: ${messageOf(error)}`)
    }
  }
  return { failures }
}

/** The fate of a mail in the queue. */
type Fate = { kind: 'waiting' | 'delivered' | 'ended'; reply: string }

/** Whether a mail waits in the queue, was delivered, or ended undelivered. */
async function fateOf(store: Store, emailId: string): Promise<Fate> {
  const { read } = store
  const waiting = await read
    .selectFrom('queue')
    .select('last_reply')
    .where('email_id', '=', emailId)
    .executeTakeFirst()
  if (waiting !== undefined) return { kind: 'waiting', reply: waiting.last_reply ?? '' }
  const ended = await read
    .selectFrom('deliveries')
    .select(['status', 'reply'])
    .where('email_id', '=', emailId)
    .executeTakeFirst()
  const isThere = ended?.status === 'delivered' || ended?.status === 'relayed'
  return { kind: isThere ? 'delivered' : 'ended', reply: ended?.reply ?? '' }
}
