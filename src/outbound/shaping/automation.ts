import { duration, oneOf, type Setting, settingName, text } from '../../config/index.js'
import { type Given, type Problems, readFields, shown, tableOf } from './fields.js'
import { limitSettings } from './limits.js'
import { makeReplyPattern, type ReplyPattern } from './pattern.js'

/** What a receiver's words may set off; `none` switches off an automation of a table below. */
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
  /** One of them occurs in the reply. */
  readonly patterns: readonly ReplyPattern[]
  /** None of these does. */
  readonly unless: readonly ReplyPattern[]
  /** How the reply's code begins; empty for any. */
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
const replyTexts: Setting<readonly string[]> = {
  kind: 'setting',
  fallback: [],
  read(value) {
    const given: unknown[] = Array.isArray(value) ? value : [value]
    const texts = given.filter((one) => typeof one === 'string' && /^\P{Cc}{1,200}$/u.test(one))
    return texts.length === given.length && texts.length > 0
      ? { value: texts as string[] }
      : { expected: 'a text of 1 to 200 characters, or a list of such texts' }
  },
}

// The keys of an automation's table.
const automationSettings = {
  name: text('', { pattern: /^\P{Cc}{1,60}$/u, expected: 'a text of 1 to 60 characters' }),
  pattern: replyTexts,
  unless: replyTexts,
  code: text('', {
    pattern: /^[45]\d{0,2}$/,
    expected: 'how a code begins, such as "4" or "421"',
  }),
  threshold: text('1/1h', {
    pattern: /^[1-9]\d?\/\d{1,4}[smh]$/,
    expected: 'times (1 to 99) within a duration, such as "2/1h"',
  }),
  action: oneOf('none', actions),
  connections: limitSettings.connections,
  messagesPerMinute: limitSettings.messagesPerMinute,
  for: duration('30m', '1s', '7d'),
} as const

/**
 * Reads the automations of one table. What is wrong goes to `problems`; where there are any, nobody uses what was
 * read, so that empty values stand for those that could not be read.
 */
export function readAutomations(
  given: unknown,
  table: string,
  from: string,
  problems: Problems,
): ShapingAutomation[] {
  if (!Array.isArray(given)) {
    problems.push(`[${table}]: automation: expected tables [[${table}.automation]]`)
    return []
  }
  const seen = new Set<unknown>()
  return given.map((item: unknown, index) => {
    const fields = tableOf(item, `[[${table}.automation]] ${index + 1}`, problems)
    const named = typeof fields.name === 'string' ? `"${fields.name}"` : index + 1
    const place = `[[${table}.automation]] ${named}`
    if (seen.has(fields.name)) problems.push(`${place}: name: given twice in this table`)
    seen.add(fields.name)
    return automationOf(fields, place, from, problems)
  })
}

function automationOf(
  fields: Given,
  place: string,
  from: string,
  problems: Problems,
): ShapingAutomation {
  const read = readFields(automationSettings, fields, place, problems)
  // `readFields` tells what is wrong with keys that are there; that one is missing is told here.
  const needs = (key: keyof typeof automationSettings, expected: string) => {
    if (!(settingName([key]) in fields)) {
      problems.push(`${place}: ${settingName([key])}: nothing given, expected ${expected}`)
    }
  }
  needs('name', 'a text of 1 to 60 characters')
  needs('pattern', 'a text of 1 to 200 characters')
  needs('action', `one of ${actions.map((action) => `"${action}"`).join(', ')}`)
  const { action = 'none', threshold = '1/1h', connections, messagesPerMinute } = read
  if (action !== 'none') needs('for', 'a duration from 1s to 7d, such as "30m"')
  const limited = connections !== undefined || messagesPerMinute !== undefined
  if (action === 'slow down' && !limited) needs('messagesPerMinute', 'this or connections')
  if (action !== 'slow down' && limited) {
    problems.push(`${place}: only "slow down" has connections and messages_per_minute`)
  }
  const patternsOf = (key: 'pattern' | 'unless') =>
    (read[key] ?? []).flatMap((given) => {
      const pattern = makeReplyPattern(given)
      if (pattern !== undefined) return [pattern]
      problems.push(`${place}: ${key}: ${shown(given)} given, expected text beside the *`)
      return []
    })
  const [times = '1', within = '1h'] = threshold.split('/')
  const span = duration('1h', '1s', '7d').read(within)
  if ('expected' in span) {
    problems.push(`${place}: threshold: ${shown(threshold)} given, expected ${span.expected}`)
  }
  return {
    name: read.name ?? '',
    patterns: patternsOf('pattern'),
    unless: patternsOf('unless'),
    code: read.code ?? '',
    threshold: { times: Number(times), withinMs: 'value' in span ? span.value : 0 },
    action,
    connections,
    messagesPerMinute,
    forMs: read.for ?? 0,
    from,
  }
}
