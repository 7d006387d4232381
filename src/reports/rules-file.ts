import { basename, dirname, join } from 'node:path'
import { OperatorError } from '../errors/index.js'
import { isTable, readToml, type Table } from '../toml/index.js'
import { makePattern, type Pattern } from './pattern.js'
import {
  type BounceClass,
  type BounceRules,
  bounceClasses,
  type ClassEffect,
  type CodeRule,
  type Provider,
  type Retry,
  type TextRule,
} from './verdict.js'

type Given = Readonly<Table>

const tables = ['classes', 'providers', 'text', 'status', 'code']

/**
 * Reads and checks the rules that come with Posthorn and, over them, those of the operator; throws
 * one OperatorError that lists every problem of the first bad file.
 */
export function loadBounceRules(files: readonly string[]): BounceRules {
  const classes = new Map<BounceClass, ClassEffect>()
  const providers = new Map<string, Provider>()
  const status = new Map<string, CodeRule>()
  const code = new Map<string, CodeRule>()
  let text: readonly TextRule[] = []
  for (const file of files) {
    const reader = new FileReader(join(basename(dirname(file)), basename(file)))
    const content = readToml(file, 'the bounce rules')
    reader.knownKeys('the file', content, tables)
    for (const [name, given] of reader.table('[classes]', content.classes)) {
      const known = reader.className(`[classes.${name}]`, name)
      const effect = reader.effect(`[classes.${name}]`, given, known && classes.get(known))
      if (known !== undefined && effect !== undefined) classes.set(known, effect)
    }
    for (const [name, given] of reader.table('[providers]', content.providers)) {
      const provider = reader.provider(name, given, providers.get(name))
      if (provider !== undefined) providers.set(name, provider)
    }
    text = over(reader.texts('text', content.text), text)
    reader.codes('[status]', content.status, /^[45x]\.\d{1,3}\.(\d{1,3}|x)$/, status)
    reader.codes('[code]', content.code, /^[45]\d{0,2}$/, code)
    const missing = bounceClasses.filter((name) => !classes.has(name))
    for (const name of missing) reader.problem(`[classes.${name}]: nothing given, expected a table`)
    if (reader.problems.length > 0) {
      throw new OperatorError(`Bad bounce rules (${file}):\n  ${reader.problems.join('\n  ')}`)
    }
  }
  return { files, classes, providers, text, status, code }
}

/** The later file's rules come first, and stand for those of the same name. */
function over(own: readonly TextRule[], below: readonly TextRule[]): readonly TextRule[] {
  const names = new Set(own.map(({ name }) => name))
  return [...own, ...below.filter(({ name }) => !names.has(name))]
}

/** One file's values, with every problem noted in place of an exception. */
class FileReader {
  readonly problems: string[] = []
  readonly #file: string

  constructor(file: string) {
    this.#file = file
  }

  problem(text: string): undefined {
    this.problems.push(text)
    return undefined
  }

  knownKeys(place: string, given: Given, known: readonly string[]): void {
    for (const key of Object.keys(given)) {
      if (!known.includes(key)) {
        this.problem(`${place}: ${key}: no such key; known: ${known.join(', ')}`)
      }
    }
  }

  table(place: string, given: unknown): [string, unknown][] {
    if (given === undefined) return []
    if (isTable(given)) return Object.entries(given)
    this.problem(`${place}: ${shown(given)} given, expected a table`)
    return []
  }

  className(place: string, given: unknown): BounceClass | undefined {
    return (
      bounceClasses.find((name) => name === given) ??
      this.problem(`${place}: ${shown(given)} given, expected one of ${bounceClasses.join(', ')}`)
    )
  }

  effect(place: string, given: unknown, below: ClassEffect | undefined): ClassEffect | undefined {
    const fields = Object.fromEntries(this.table(place, given))
    this.knownKeys(place, fields, ['retry', 'suppress', 'event', 'type'])
    const choice = <T extends string>(key: string, choices: readonly T[], usual: T | undefined) => {
      const value = fields[key] ?? usual
      const found = choices.find((name) => name === value)
      return (
        found ??
        this.problem(`${place}: ${key}: ${shown(value)} given, expected ${choices.join(' or ')}`)
      )
    }
    const retry = this.#retry(place, fields.retry ?? below?.retry)
    const suppress = choice('suppress', ['no', 'now', 'repeated'], below?.suppress)
    const event = choice('event', ['bounced', 'failed'], below?.event)
    const bounceType = choice('type', ['Permanent', 'Transient'], below?.bounceType)
    return retry && suppress && event && bounceType && { retry, suppress, event, bounceType }
  }

  #retry(place: string, given: unknown): Retry | undefined {
    const word = (['no', 'yes', 'slow', 'once'] as const).find((name) => name === given)
    if (word !== undefined) return word
    const atMost = isTable(given) ? given.atMost : given
    if (Number.isInteger(atMost) && Number(atMost) >= 1 && Number(atMost) <= 100) {
      return { atMost: Number(atMost) }
    }
    return this.problem(
      `${place}: retry: ${shown(given)} given, expected "no", "yes", "slow", "once" or a number of attempts`,
    )
  }

  provider(name: string, given: unknown, below: Provider | undefined): Provider | undefined {
    const place = `[providers.${name}]`
    const fields = Object.fromEntries(this.table(place, given))
    this.knownKeys(place, fields, ['hosts', 'text'])
    const hosts = fields.hosts ?? below?.hosts
    const text = this.texts(`providers.${name}.text`, fields.text)
    const isHost = (host: unknown) => typeof host === 'string' && /^[a-z0-9.-]{1,253}$/.test(host)
    if (!Array.isArray(hosts) || hosts.length === 0 || !hosts.every(isHost)) {
      return this.problem(
        `${place}: hosts: ${shown(hosts)} given, expected a list of host names in lower case`,
      )
    }
    return { hosts, text: over(text, below?.text ?? []) }
  }

  texts(table: string, given: unknown): TextRule[] {
    if (given === undefined) return []
    if (!Array.isArray(given)) {
      this.problem(`${table}: ${shown(given)} given, expected tables [[${table}]]`)
      return []
    }
    return given.flatMap((fields, index) => this.#text(table, index, fields) ?? [])
  }

  #text(table: string, index: number, given: unknown): TextRule | undefined {
    const fields: Given = isTable(given) ? given : {}
    const { name, code = '' } = fields
    const place = `[[${table}]] ${typeof name === 'string' ? shown(name) : index + 1}`
    this.knownKeys(place, fields, ['name', 'class', 'patterns', 'unless', 'code'])
    if (typeof name !== 'string' || name === '') {
      return this.problem(`${place}: name: ${shown(name)} given, expected a text`)
    }
    if (typeof code !== 'string' || !/^([45]\d{0,2})?$/.test(code)) {
      return this.problem(`${place}: code: ${shown(code)} given, expected a text such as "5"`)
    }
    const found = this.className(`${place}: class`, fields.class)
    const patterns = this.#patterns(`${place}: patterns`, fields.patterns)
    const none: Pattern[] = []
    const unless =
      fields.unless === undefined ? none : this.#patterns(`${place}: unless`, fields.unless)
    if (found === undefined || patterns === undefined || unless === undefined) return undefined
    return {
      name,
      class: found,
      code,
      patterns,
      unless,
      shown: `${table} "${name}" of ${this.#file}`,
    }
  }

  #patterns(place: string, given: unknown): Pattern[] | undefined {
    const texts: unknown[] = Array.isArray(given) ? given : []
    const patterns = texts.map((text) => (typeof text === 'string' ? makePattern(text) : undefined))
    const good = patterns.filter((pattern) => pattern !== undefined)
    if (good.length > 0 && good.length === texts.length) return good
    const bad = texts[patterns.indexOf(undefined)] ?? given
    return this.problem(
      `${place}: ${shown(bad)} given, expected a list of texts of up to 200 characters`,
    )
  }

  codes(place: string, given: unknown, form: RegExp, into: Map<string, CodeRule>): void {
    for (const [key, value] of this.table(place, given)) {
      if (!form.test(key)) this.problem(`${place}: ${shown(key)} given, expected a code`)
      const found = this.className(`${place} ${key}`, value)
      const name = `${place.slice(1, -1)} ${key} of ${this.#file}`
      if (found !== undefined) into.set(key, { class: found, shown: name })
    }
  }
}

const shown = (value: unknown) => (JSON.stringify(value) ?? 'nothing').slice(0, 80)
