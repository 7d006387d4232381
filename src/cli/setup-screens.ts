import type { Finding } from '../doctor/index.js'
import { zoneFile } from '../domains/index.js'
import type { Task, WantedRecord } from '../setup/index.js'
import { cut, say, sayTable, styled, visibleLine } from './output.js'

/** Very wide terminals are not used in full: long lines are hard to read. */
const width = () => Math.min(process.stdout.columns || 80, 120)

/** The heading of a part. */
export const sayTitle = (title: string) => say(`\n${styled('bold', title)}\n`)

/** What was done, or would be: a verb and a thing. */
export const sayStep = (verb: string, what: string) => say(`  ${verb.padEnd(8)}  ${what}`)

/** The records as a table that fits the terminal, and in full as lines for a zone file. */
export function sayWanted(records: readonly WantedRecord[]): void {
  sayTitle('DNS records to publish')
  const most = (column: (record: WantedRecord) => string) =>
    Math.max(...records.map((record) => column(record).length))
  const left =
    most(({ purpose }) => purpose) + most(({ type }) => type) + most(({ host }) => host) + 8
  const room = Math.max(12, width() - left)
  sayTable(
    ['FOR', 'TYPE', 'NAME', 'VALUE'],
    records.map(({ purpose, type, host, value }) => [purpose, type, host, cut(value, room)]),
    'none',
  )
  const zone = records.filter(({ where }) => where === 'zone')
  say('\nThe same whole, as lines for a zone file:\n')
  process.stdout.write(zoneFile(zone))
  if (zone.length < records.length) {
    say('\nThe reverse name (PTR) is set by whoever gave this machine its address.')
  }
}

const marks = {
  ok: ['green', 'ok  '],
  warn: ['yellow', 'warn'],
  fail: ['red', 'fail'],
  unchecked: ['blue', '?   '],
} as const

/** A line a finding, without its fix: `posthorn doctor` has those. */
export function sayFindings(findings: readonly Finding[]): void {
  for (const { check, subject, state, found } of findings) {
    const [colour, mark] = marks[state]
    const text = visibleLine(
      `${check} ${subject}: ${state === 'unchecked' ? 'not checked: ' : ''}${found}`,
    )
    say(`  ${styled(colour, mark)}  ${cut(text, width() - 8)}`)
  }
}

// Checks of the doctor that need the records which were just shown.
const recordChecks = [
  'helo',
  'ptr',
  'dkim',
  'return-path',
  'spf',
  'dmarc',
  'dmarc-authorisation',
  'tracking',
]

/**
 * The doctor's findings: the good ones in one line, and in another line those that wait for the records just shown.
 */
export function sayExamination(findings: readonly Finding[]): void {
  sayTitle('What the doctor says')
  const good = findings.filter(({ state }) => state === 'ok')
  const awaited = findings.filter(
    ({ check, state }) => recordChecks.includes(check) && (state === 'fail' || state === 'warn'),
  )
  if (good.length > 0) say(`  ${styled('green', 'ok  ')}  ${cut(namesOf(good), width() - 8)}`)
  if (awaited.length > 0) {
    const what = `the records above are not all published yet: ${namesOf(awaited)}`
    say(`  ${styled('yellow', 'wait')}  ${cut(what, width() - 8)}`)
  }
  sayFindings(findings.filter((one) => !good.includes(one) && !awaited.includes(one)))
}

/** The checks, each once. */
const namesOf = (findings: readonly Finding[]) =>
  [...new Set(findings.map(({ check }) => check))].join(', ')

/** The tasks left for a person, numbered; writes nothing without tasks. */
export function sayTasks(tasks: readonly Task[]): void {
  if (tasks.length === 0) return
  sayTitle('What is left for you')
  for (const [i, { where, what }] of tasks.entries()) {
    for (const [row, line] of wrapped(`${where}: ${what}`, width() - 5).entries()) {
      say(row === 0 ? `${String(i + 1).padStart(3)}. ${line}` : `     ${line}`)
    }
  }
}

/** Wraps into lines that fit; a word is never cut. */
function wrapped(text: string, room: number): string[] {
  const lines = ['']
  for (const word of text.split(' ')) {
    const last = lines.at(-1) ?? ''
    if (last !== '' && last.length + 1 + word.length > room) lines.push(word)
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`
  }
  return lines
}
