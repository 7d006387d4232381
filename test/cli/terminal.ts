import { spawn } from 'node:child_process'
import { stripVTControlCharacters } from 'node:util'
import { environment, main, type RunOptions } from './run.js'

/** Ctrl-C, as a terminal passes it on. */
export const ctrlC = '\u0003'

/**
 * Runs `posthorn` at a terminal of its own, by script(1) of Debian's bsdutils, and types each answer when
 * what it answers to is there. `text` is all that the terminal shows, without its escape sequences.
 */
export function atTerminal(
  args: readonly string[],
  options: RunOptions,
  answers: readonly (readonly [awaited: RegExp, typed: string])[],
): Promise<{ status: number | null; text: string }> {
  const words = [process.execPath, main, ...args].map(
    (word) => `'${word.replaceAll("'", "'\\''")}'`,
  )
  const env = { ...environment(options), SHELL: '/bin/sh', TERM: 'xterm' }
  const child = spawn('script', ['-qec', words.join(' '), '/dev/null'], { env })
  const left = [...answers]
  let text = ''
  let seen = 0
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += stripVTControlCharacters(chunk).replaceAll('\r', '')
    const [next] = left
    if (next === undefined || !next[0].test(text.slice(seen))) return
    left.shift()
    seen = text.length
    child.stdin.write(next[1] === ctrlC ? ctrlC : `${next[1]}\r`)
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (status) => resolve({ status, text }))
  })
}
