import { readKeys, setting, settingName } from '../../config/index.js'
import { expectedOf, oneOf, parsed, reading, span, textLike } from '../../fields/index.js'
import { type Table, type TomlPlace, tableAt, wrongValue } from '../../toml/index.js'
import { limitSettings } from './limits.js'
import { makeReplyPattern, type ReplyPattern } from './pattern.js'

/** What a receiver's words may set off; `none` switches off an automation of a less specific table. */
export type ShapingAction =
  | 'slow down'
  | 'fewer connections'
  | 'suspend'
  | 'failover'
  | 'alarm'
  | 'none'

const actions = [
  'slow down',
  'fewer connections',
  'suspend',
  'failover',
  'alarm',
  'none',
] as const satisfies readonly ShapingAction[]

/** What a receiver's words set off. */
export interface ShapingAutomation {
  readonly name: string
  /** One of these occurs in the reply. */
  readonly patterns: readonly ReplyPattern[]
  /** None of these does. */
  readonly unless: readonly ReplyPattern[]
  /** The beginning of the reply's code; empty for any. */
  readonly code: string
  /** At the `times`-th reply within `withinMs`. */
  readonly threshold: { readonly times: number; readonly withinMs: number }
  readonly action: ShapingAction
  readonly connections: number | undefined
  readonly messagesPerMinute: number | undefined
  readonly forMs: number
  /** Where it is written: the file and the table. */
  readonly from: string
}

/** One text to look for in replies, or a list of them. */
const replyTexts = setting<readonly string[]>(
  [],
  parsed('a text of 1 to 200 characters, or a list of such texts', (value) => {
    const given: unknown[] = Array.isArray(value) ? value : [value]
    const texts = given.filter((one) => typeof one === 'string' && /^\P{Cc}{1,200}$/u.test(one))
    return texts.length === given.length && texts.length > 0 ? (texts as string[]) : undefined
  }),
)
const action = oneOf(actions)
const length = span('1s', '7d', '30m')

// The keys of an automation's table.
const automationSettings = {
  name: setting('', textLike(/^\P{Cc}{1,60}$/u, 'a text of 1 to 60 characters')),
  pattern: replyTexts,
  unless: replyTexts,
  code: setting('', textLike(/^[45]\d{0,2}$/, 'how a code begins, such as "4" or "421"')),
  threshold: setting(
    '1/1h',
    textLike(/^[1-9]\d?\/\d{1,4}[smh]$/, 'times (1 to 99) within a duration, such as "2/1h"'),
  ),
  action: setting('none', action),
  connections: limitSettings.connections,
  messagesPerMinute: limitSettings.messagesPerMinute,
  for: setting(30 * 60_000, length),
} as const

/**
 * Reads the automations of one table. Faults are noted as problems of the file. Where there are any, nobody uses what
 * was read, so empty values stand for those that could not be read.
 */
export function readAutomations(
  given: unknown,
  { file, path, says }: TomlPlace,
  from: string,
): ShapingAutomation[] {
  const table = says.slice(1, -1)
  const below = [...path, 'automation']
  if (!Array.isArray(given)) {
    file.problem(below, `${says}: automation: expected tables [[${table}.automation]]`)
    return []
  }
  const seen = new Set<unknown>()
  return given.map((item: unknown, index) => {
    const number = { file, path: [...below, index], says: `[[${table}.automation]] ${index + 1}` }
    const fields = tableAt(number, item)
    const name = typeof fields.name === 'string' ? `"${fields.name}"` : `${index + 1}`
    const place = { ...number, says: `[[${table}.automation]] ${name}` }
    if (seen.has(fields.name)) {
      file.problem([...place.path, 'name'], `${place.says}: name: given twice in this table`)
    }
    seen.add(fields.name)
    return automationOf(fields, place, from)
  })
}

function automationOf(fields: Table, place: TomlPlace, from: string): ShapingAutomation {
  const read = readKeys(automationSettings, fields, place)
  // `readKeys` tells what is wrong with keys that are there; a missing key is told here.
  const needs = (key: keyof typeof automationSettings, expected: string) => {
    if (!(settingName([key]) in fields)) {
      wrongValue(place, settingName([key]), undefined, expected)
    }
  }
  needs('name', 'a text of 1 to 60 characters')
  needs('pattern', 'a text of 1 to 200 characters')
  needs('action', expectedOf(action))
  const { action: chosen = 'none', threshold = '1/1h', connections, messagesPerMinute } = read
  if (chosen !== 'none') needs('for', expectedOf(length))
  const limited = connections !== undefined || messagesPerMinute !== undefined
  if (chosen === 'slow down' && !limited) needs('messagesPerMinute', 'this or connections')
  if (chosen !== 'slow down' && limited) {
    const only = 'only "slow down" has connections and messages_per_minute'
    place.file.problem(place.path, `${place.says}: ${only}`)
  }
  const patternsOf = (key: 'pattern' | 'unless') =>
    (read[key] ?? []).flatMap((given) => {
      const pattern = makeReplyPattern(given)
      if (pattern !== undefined) return [pattern]
      wrongValue(place, key, given, 'text beside the *')
      return []
    })
  const [times = '1', within = '1h'] = threshold.split('/')
  const window = reading(within, length)
  if ('expected' in window) wrongValue(place, 'threshold', threshold, window.expected)
  return {
    name: read.name ?? '',
    patterns: patternsOf('pattern'),
    unless: patternsOf('unless'),
    code: read.code ?? '',
    threshold: { times: Number(times), withinMs: 'value' in window ? window.value : 0 },
    action: chosen,
    connections,
    messagesPerMinute,
    forMs: read.for ?? 0,
    from,
  }
}
