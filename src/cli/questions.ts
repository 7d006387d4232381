import { createInterface } from 'node:readline/promises'
import { OperatorError } from '../errors/index.js'
import type { AnswerReading } from '../setup/index.js'
import { say, styled } from './output.js'

/** Questions to a person at a terminal, one after another. */
export interface Questions {
  /** Asks until the answer can be read. Enter takes `fallback`; without one an empty line is no answer. */
  ask<T>(title: string, fallback: string, read: (text: string) => AnswerReading<T>): Promise<T>
  /** Yes or no; Enter takes `fallback`. */
  confirm(title: string, fallback: boolean): Promise<boolean>
  close(): void
}

/** Undefined unless both input and output are a terminal. */
export function openQuestions(unchanged: string): Questions | undefined {
  if (!process.stdin.isTTY || !process.stdout.isTTY) return undefined
  const lines = createInterface({ input: process.stdin, output: process.stdout })
  // Aborted when the person gives up: the question then throws `unchanged`.
  const given = new AbortController()
  // Ctrl-C and Ctrl-D: readline would leave the question open for ever.
  lines.on('SIGINT', () => given.abort())
  lines.on('close', () => given.abort())
  const line = async (prompt: string) => {
    try {
      return (await lines.question(prompt, { signal: given.signal })).trim()
    } catch {
      process.stdout.write('\n')
      throw new OperatorError(unchanged)
    }
  }
  const questions: Questions = {
    async ask(title, fallback, read) {
      say(`\n${styled('bold', title)}`)
      for (;;) {
        const text = await line(fallback === '' ? '> ' : `[${fallback}] > `)
        const reading = read(text === '' ? fallback : text)
        if ('value' in reading) return reading.value
        say(styled('yellow', `  ${reading.problem}`))
      }
    },
    confirm: (title, fallback) =>
      questions.ask<boolean>(`${title} ${fallback ? '[Y/n]' : '[y/N]'}`, '', (text) => {
        if (text === '') return { value: fallback }
        if (/^y(es)?$/i.test(text)) return { value: true }
        if (/^no?$/i.test(text)) return { value: false }
        return { problem: 'Please answer yes or no' }
      }),
    close: () => lines.close(),
  }
  return questions
}
