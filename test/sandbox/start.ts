import { setTimeout as pause } from 'node:timers/promises'
import type { Test } from 'tap'
import { systemClock } from '../../src/clock/index.js'
import { silentLog } from '../../src/log/index.js'
import {
  listMessages,
  openSandboxReceiver,
  type SandboxReceiverDeps,
  type SandboxSummary,
} from '../../src/sandbox/index.js'
import type { Store } from '../../src/store/index.js'
import { fakeResolver } from '../support/resolver.js'
import { openTestStore } from '../support/store.js'
import { Talk } from './talk.js'

export interface StartedSandbox {
  store: Store
  port: number
  talk(): Promise<Talk>
  /** Gives a mail in over SMTP and resolves with the reply to the final dot. */
  send(message: string | Buffer, recipients?: string[], from?: string): Promise<string>
  /** Resolves with the list, newest first, once `count` mails are there and checked. */
  checked(count: number): Promise<SandboxSummary[]>
  close(): Promise<void>
}

/** A receiver on a free port over a real database, closed at the end of the test. */
export async function startSandbox(
  t: Test,
  options: Partial<Omit<SandboxReceiverDeps, 'config'>> &
    Partial<SandboxReceiverDeps['config']> = {},
): Promise<StartedSandbox> {
  const { keepMessages = 1_000, maxHeldBytes = 2 ** 26, ...deps } = options
  const store = deps.store ?? (await openTestStore(t))
  const receiver = await openSandboxReceiver({
    clock: systemClock,
    log: silentLog,
    resolver: fakeResolver(),
    ...deps,
    store,
    config: { port: 0, keepMessages, maxHeldBytes },
  })
  let closed: Promise<void> | undefined
  const close = () => {
    closed ??= receiver.close()
    return closed
  }
  t.teardown(close)
  const talk = () => Talk.open(t, receiver.port)
  return {
    store,
    port: receiver.port,
    talk,
    close,
    async send(message, recipients, from) {
      const client = await talk()
      await client.upToData(recipients, from)
      client.write(message)
      const reply = await client.say('\r\n.')
      await client.say('QUIT')
      return reply
    },
    async checked(count) {
      // The verdicts come in their own time and ring no bell; the test runner ends a wait in vain.
      for (;;) {
        const messages = await listMessages(store, { limit: 10_000 })
        const done = messages.every(({ verdicts }) => verdicts !== undefined)
        if (messages.length === count && done) return messages
        await pause(5)
      }
    },
  }
}
