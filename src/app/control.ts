import { rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { maxRetried } from '../deliveries/index.js'
import { jsonObjectIn } from '../json/index.js'
import type { Log } from '../log/index.js'
import { controlSocket, isSocketPath } from './files.js'
import { type Answers, type ControlAnswer, readQuestion } from './questions.js'

export interface Control {
  close(): Promise<void>
}

// The longest question is a retry: each of its lanes is a domain name of at most 253 characters (RFC 1035 §2.3.4),
// with its quotes and a comma.
const maxQuestion = 300 * maxRetried
// A command asks at once and waits for one answer; a program that hangs must not hold a socket for good.
const idleMs = 10_000

/**
 * Answers the CLI over a socket in the data directory, which only its owner may enter. It tells what only memory knows.
 * Without it (its path is too long for a socket) commands say what the database knows.
 */
export async function openControl(
  dataDir: string,
  log: Log,
  { any: answerOf }: Pick<Answers, 'any'>,
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
      const question = readQuestion(jsonObjectIn(text.slice(0, end)))
      text = ''
      if (question === undefined) return void socket.destroy()
      // A job may take hours.
      if ('runJob' in question) socket.setTimeout(0)
      answerOf(question).then(
        (answer) => socket.end(`${JSON.stringify(answer satisfies ControlAnswer)}\n`),
        (error: unknown) => {
          log.error({ error }, 'What a command asked could not be answered')
          socket.destroy()
        },
      )
    })
  })
  // A process that was killed has left it; the lock says that no other one runs.
  rmSync(path, { force: true })
  const listens = await new Promise<boolean>((resolve) => {
    const fail = (cause: string) => {
      log.warn({ path, cause }, 'No control socket: commands know less')
      resolve(false)
    }
    if (!isSocketPath(path)) return fail('The name of the data directory is too long')
    server.once('error', ({ message }) => fail(message))
    server.listen(path, () => resolve(true))
  })
  return {
    async close() {
      for (const socket of open) socket.destroy()
      if (listens) await new Promise((resolve) => server.close(resolve))
    },
  }
}
