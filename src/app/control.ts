import { rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import type { LiveGate, StreamKey } from '../deliveries/index.js'
import type { Log } from '../log/index.js'
import { controlSocket } from './files.js'

/** What a command asks the running appliance; a line of JSON, answered with one. */
export interface Question {
  gateOf: StreamKey
}
export interface Answer {
  gate: LiveGate | null
}

export interface Control {
  close(): Promise<void>
}

const maxQuestion = 4_096
const idleMs = 10_000

/**
 * Answers the CLI over a socket in the data directory, which only its owner may enter: what is known
 * in memory alone. Without it (a path too long for a socket) commands say what the database knows.
 */
export async function openControl(
  dataDir: string,
  log: Log,
  gateOf: (stream: StreamKey) => Promise<LiveGate | undefined>,
): Promise<Control> {
  const path = controlSocket(dataDir)
  const open = new Set<Socket>()
  const server = createServer((socket) => {
    open.add(socket)
    socket.on('close', () => open.delete(socket)).on('error', () => {})
    socket.setTimeout(idleMs, () => socket.destroy())
    let text = ''
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
      const end = text.indexOf('\n')
      if (end < 0) return text.length > maxQuestion ? void socket.destroy() : undefined
      const question = read(text.slice(0, end))
      text = ''
      if (question === undefined) return void socket.destroy()
      void gateOf(question.gateOf).then((gate = null as never) => {
        socket.end(`${JSON.stringify({ gate } satisfies Answer)}\n`)
      })
    })
  })
  // Left over from a process that was killed; the lock says that no other one runs.
  rmSync(path, { force: true })
  const listens = await new Promise<boolean>((resolve) => {
    server.once('error', (error) => {
      log.warn({ path, cause: error.message }, 'No control socket: commands know less')
      resolve(false)
    })
    server.listen(path, () => resolve(true))
  })
  return {
    async close() {
      for (const socket of open) socket.destroy()
      if (listens) await new Promise((resolve) => server.close(resolve))
    },
  }
}

function read(line: string): Question | undefined {
  try {
    const question: unknown = JSON.parse(line)
    const { gateOf } = question as Question
    const fits =
      typeof gateOf.lane === 'string' &&
      typeof gateOf.accountId === 'string' &&
      [0, 1, 2].includes(gateOf.class)
    return fits ? { gateOf } : undefined
  } catch {
    return undefined
  }
}
