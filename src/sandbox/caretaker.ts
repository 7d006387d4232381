import { type Clock, pause } from '../clock/index.js'
import type { Resolver } from '../dns/index.js'
import type { Log } from '../log/index.js'
import { type CheckedMail, makeChecks } from '../reports/index.js'
import { eachApart, idsIn, type Store } from '../store/index.js'
import { trimMessages } from './keep.js'

/** What looking after the inbox needs. */
export interface CaretakerDeps {
  store: Store
  clock: Clock
  log: Log
  resolver: Resolver
  config: { keepMessages: number }
  /** Looks after the inboxes of accounts instead of that of the sandbox. */
  ofAccounts?: boolean
}

/** Checks mails after they were taken, and deletes the oldest. */
export interface Caretaker {
  /** Says that a mail has been kept, and in whose inbox. */
  ring(accountId?: string): void
  /** Ends after the checks under way. */
  close(): Promise<void>
}

// A check is mostly hashing in this one thread; more at a time would only keep more mails in memory.
const checksAtOnce = 4
// How far a long burst may overshoot `keepMessages`.
const trimEvery = 100
// The rest after a fault of the storage.
const retryMs = 5_000
// Measured 2026-11: checks without a break cut the mails that 20 connections deliver from 1,270/s to 250.
const breakMs = 50

/**
 * The work on a mail after its 250: the checks, then making room. The queue is the table itself (`verdicts` is null),
 * so that a burst costs no memory and a restart checks what was left.
 */
export async function startCaretaker(deps: CaretakerDeps): Promise<Caretaker> {
  const { store, clock, log } = deps
  const check = makeChecks(deps.resolver, log)
  const closing = new AbortController()
  /** Mails whose check failed for a fault of their own; they are left alone until the next start. */
  const faulty = new Set<number>()
  // It starts as if rung: the last run may have left mails unchecked, or had a larger `keepMessages`.
  let rings = 1
  let wake = () => {}
  /** The accounts whose inbox has got mails since it was last trimmed. */
  const grown = new Set<string>()

  async function checkSome(): Promise<number> {
    const mails = await store.read
      .selectFrom('sandbox_messages as message')
      .select(['message.id', 'message.mail_from', 'message.remote_address', 'message.helo'])
      .where('message.verdicts', 'is', null)
      .where('message.account_id', deps.ofAccounts ? 'is not' : 'is', null)
      .where('message.id', 'not in', idsIn([...faulty], 'integer'))
      .orderBy('message.id')
      .limit(checksAtOnce)
      .execute()
    await Promise.all(mails.map((mail) => eachApart([mail], checkOne, leave)))
    return mails.length
  }

  function leave({ id }: CheckedMail, error: unknown): void {
    faulty.add(id)
    log.error({ messageId: id, error }, 'What was found out about a sandbox mail cannot be written')
  }

  async function checkOne(mail: CheckedMail): Promise<void> {
    const source = await store.read
      .selectFrom('sandbox_sources')
      .select('raw')
      .where('id', '=', mail.id)
      .executeTakeFirst()
    if (source === undefined) return // deleted meanwhile
    const verdicts = JSON.stringify(await check(mail, source.raw))
    await store.write((tx) =>
      tx.updateTable('sandbox_messages').set({ verdicts }).where('id', '=', mail.id).execute(),
    )
  }

  async function trim(): Promise<void> {
    const { keepMessages } = deps.config
    const { signal } = closing
    if (!deps.ofAccounts) return await trimMessages(store, keepMessages, signal)
    for (const accountId of grown) {
      grown.delete(accountId)
      await trimMessages({ read: store.read, write: store.write, accountId }, keepMessages, signal)
    }
  }

  async function work(): Promise<void> {
    let sinceTrim = 0
    for (;;) {
      sinceTrim += rings
      rings = 0
      const checked = await checkSome()
      if (closing.signal.aborted) return
      // While mail arrives it comes first, and the checks get the time that is left.
      if (rings > 0) await pause(clock, breakMs, closing.signal)
      if (checked > 0 && sinceTrim < trimEvery) continue
      await trim()
      sinceTrim = 0
      if (checked === 0 && rings === 0) return
    }
  }

  async function run(): Promise<void> {
    while (!closing.signal.aborted) {
      if (rings === 0) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
        continue
      }
      try {
        await work()
      } catch (error) {
        log.error({ error }, 'Sandbox could not look after its mails')
        await pause(clock, retryMs, closing.signal)
        rings++
      }
    }
  }

  const running = run()
  return {
    ring(accountId) {
      if (accountId !== undefined) grown.add(accountId)
      rings++
      wake()
    },
    async close() {
      closing.abort()
      wake()
      await running
    },
  }
}
