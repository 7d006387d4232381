import { styleText } from 'node:util'
import { isoTime, isTime, utcTime } from '../clock/index.js'

/** A name of `util.styleText`, or several. */
type Style = Parameters<typeof styleText>[0]

/** How this command line wants its answer; stdout and stderr are the process's, and so is this. */
let manner = { json: false, quiet: false }

/**
 * Called once, before anything is written. `color: false` sets NO_COLOR, so that libraries obey it
 * too.
 */
export function answerAs({ json, quiet, color }: typeof manner & { color: boolean }): void {
  manner = { json, quiet }
  if (color) return
  process.env.NO_COLOR = '1'
  // Node colours where FORCE_COLOR is set, whatever NO_COLOR says.
  delete process.env.FORCE_COLOR
}

/** Colours only if a terminal shows them and NO_COLOR does not forbid them. */
export const styled = (style: Style, text: string, stream: NodeJS.WriteStream = process.stdout) =>
  styleText(style, text, { stream })

/** One line of the answer. */
export const say = (line = '') => void process.stdout.write(`${line}\n`)

/** What to do next, below the answer. It is for people: --quiet and --json leave it out. */
export function sayNext(line: string): void {
  if (!manner.quiet) say(line)
}

/** A remark beside the answer; stdout stays what a script expects. */
export function remark(line: string): void {
  if (!manner.quiet) beside('remark', line, line)
}

/** What may go wrong although the command does its work; --quiet does not hide it. */
export const warn = (line: string) => beside('warning', line, `warning: ${line}`)

/** With --json, stderr is a JSON object a line, the last one the error if there is one. */
const beside = (kind: 'remark' | 'warning', message: string, line: string) =>
  void process.stderr.write(`${manner.json ? JSON.stringify({ [kind]: message }) : line}\n`)

/** Lines that others wrote, unchanged except for characters that would control the terminal. */
export const sayText = (text: string) => say(visibleLines(text))

/** Several lines that others wrote. */
export const visibleLines = (text: string) => text.split('\n').map(visible).join('\n')

/** Text that others wrote, in one line, as each finding has. */
export const visibleLine = (text: string) => visible(text.replaceAll(/\s+/g, ' ').trim())

/** The whole answer as one document. */
export const sayJson = (value: unknown) => say(JSON.stringify(value, undefined, 2))

/** Columns aligned, two spaces apart; says `none` when there are no rows. */
export function sayTable(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  none: string,
): void {
  if (rows.length === 0) {
    say(none)
    return
  }
  const [titles = [], ...lines] = aligned([header, ...rows])
  say(styled('bold', titles.join('  ').trimEnd()))
  for (const cells of lines) say(cells.join('  ').trimEnd())
}

/**
 * A text that is too long for its column ends with an ellipsis; counted in characters, as columns
 * are.
 */
export function cut(text: string, room: number): string {
  const characters = [...text]
  return characters.length <= room ? text : `${characters.slice(0, room - 1).join('')}…`
}

/** Names and values below each other. */
export function sayFields(fields: Readonly<Record<string, string>>): void {
  for (const [name = '', value = ''] of aligned(Object.entries(fields))) {
    say(`${styled('bold', name)}  ${value.trimEnd()}`)
  }
}

/** Cells of a column as wide as the widest, by characters and not by UTF-16 units. */
function aligned(rows: readonly (readonly string[])[]): string[][] {
  const shown = rows.map((row) => row.map(visible))
  const widths = (shown[0] ?? []).map((_, column) =>
    Math.max(...shown.map((row) => [...(row[column] ?? '')].length)),
  )
  return shown.map((row) =>
    row.map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - [...cell].length)),
  )
}

/**
 * Text that others wrote (names, DNS answers) must not move the cursor, turn the line around or be
 * invisible.
 */
const visible = (text: string) =>
  text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (c) => {
    const digits = (c.codePointAt(0) ?? 0).toString(16)
    return digits.length > 4 ? `\\u{${digits}}` : `\\u${digits.padStart(4, '0')}`
  })

/** `2026-11-21 04:51 UTC`, or a dash. */
export const shownTime = (ms: number | null) => (ms === null ? '-' : utcTime(ms))

/** A time as `shownTime` writes it, with seconds if it is only minutes away. */
export function shownSoon(ms: number | null, now: number): string {
  if (ms === null || Math.abs(ms - now) > soonMs) return shownTime(ms)
  return `${isoTime(ms).slice(0, 19).replace('T', ' ')} UTC`
}

// Ten minutes.
const soonMs = 600_000

/** Also null for a number that is no time. */
export const jsonTime = (ms: number | null) => (ms === null || !isTime(ms) ? null : isoTime(ms))
