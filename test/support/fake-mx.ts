import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { Dialogue, type Receiver } from './fake-mx-dialogue.js'
import type { Act, MxScript, MxSession, ReceivedMessage, Script } from './fake-mx-script.js'

export type { Act, MxScript, MxSession, ReceivedMessage, Script } from './fake-mx-script.js'

/**
 * A receiver that does as it is told, well or badly: each phase of a session has its own script.
 * Written on the raw socket, so that it can send what no server library would.
 */
export interface FakeMx {
  readonly host: string
  readonly port: number
  /** The messages that were accepted (answered 2yz after the dot), in order. */
  readonly messages: readonly ReceivedMessage[]
  /** The messages that came to their final dot and were not accepted: refused, or left without an answer. */
  readonly unaccepted: readonly ReceivedMessage[]
  readonly sessions: readonly MxSession[]
  /** Resolves when `count` messages have been accepted; rejects after `withinMs` (10 s). */
  waitForMessages(count: number, withinMs?: number): Promise<readonly ReceivedMessage[]>
  /** Resolves when `isSo` holds; it is asked after every command and message. */
  waitUntil(isSo: () => boolean, withinMs?: number): Promise<void>
  /** Behaves differently from now on, in running sessions too. */
  change(script: MxScript): void
  /** Writes to all sessions at once, unasked; `drop` hangs up. */
  interject(act: Act): Promise<void>
}

/** Starts a receiver; the test's end stops it. */
export async function fakeMx(
  t: { teardown(stop: () => unknown): void },
  script: MxScript = {},
): Promise<FakeMx> {
  const mx = new Mx(script)
  const server = createServer({ allowHalfOpen: script.lingers === true }, (socket) =>
    mx.serve(socket),
  )
  server.listen(script.port ?? 0, script.host ?? '127.0.0.1')
  await once(server, 'listening')
  mx.port = (server.address() as AddressInfo).port
  t.teardown(async () => {
    mx.hangUp()
    server.close()
    await once(server, 'close')
  })
  return mx
}

class Mx implements FakeMx, Receiver {
  readonly host: string
  port = 0
  readonly messages: ReceivedMessage[] = []
  readonly unaccepted: ReceivedMessage[] = []
  readonly sessions: MxSession[] = []
  script: MxScript
  readonly #turns = new Map<Script, number>()
  readonly #dialogues = new Set<Dialogue>()
  readonly #watchers = new Set<() => void>()

  constructor(script: MxScript) {
    this.script = script
    this.host = script.host ?? '127.0.0.1'
  }

  serve(socket: Socket): void {
    const dialogue = new Dialogue(this, socket)
    this.#dialogues.add(dialogue)
    this.sessions.push(dialogue.session)
    socket.once('close', () => {
      this.#dialogues.delete(dialogue)
      dialogue.session.closed = true
      this.changed()
    })
    void dialogue.run()
    this.changed()
  }

  change(script: MxScript): void {
    this.script = { ...this.script, ...script }
  }

  async interject(act: Act): Promise<void> {
    await Promise.all([...this.#dialogues].map((dialogue) => dialogue.perform(act)))
  }

  async waitForMessages(count: number, withinMs?: number): Promise<readonly ReceivedMessage[]> {
    await this.waitUntil(() => this.messages.length >= count, withinMs)
    return this.messages
  }

  waitUntil(isSo: () => boolean, withinMs = 10_000): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = () => {
        if (!isSo()) return
        clearTimeout(timer)
        this.#watchers.delete(look)
        resolve()
      }
      const timer = setTimeout(() => {
        this.#watchers.delete(look)
        const seen = `${this.messages.length} accepted, ${this.unaccepted.length} not`
        reject(new Error(`The fake MX waited ${withinMs} ms in vain: ${seen}`))
      }, withinMs)
      this.#watchers.add(look)
      look()
    })
  }

  changed(): void {
    for (const look of this.#watchers) look()
  }

  /** What the script says now, or else `usual`. */
  act(script: Script | undefined, usual: Act, argument: string, session: MxSession): Act {
    if (script === undefined) return usual
    if (typeof script === 'function') return script(argument, session)
    if (!isList(script)) return script
    const turn = this.#turns.get(script) ?? 0
    this.#turns.set(script, turn + 1)
    return script[Math.min(turn, script.length - 1)] ?? usual
  }

  hangUp(): void {
    for (const dialogue of this.#dialogues) dialogue.end()
  }
}

function isList(script: Act | readonly Act[]): script is readonly Act[] {
  return Array.isArray(script)
}
