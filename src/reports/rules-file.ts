import { basename, dirname, join } from 'node:path'
import {
  isTable,
  type OperatorFile,
  openFile,
  quoted,
  refuseOthers,
  type Table,
  type TomlPlace,
  tableAt,
  wholeFile,
  wrongValue,
} from '../toml/index.js'
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

const tables = ['classes', 'providers', 'text', 'status', 'code']

/**
 * Reads and checks the rules that come with Posthorn and the operator's, which come first. Throws
 * one OperatorError that lists every problem of the first bad file.
 */
export function loadBounceRules(files: readonly string[]): BounceRules {
  const classes = new Map<BounceClass, ClassEffect>()
  const providers = new Map<string, Provider>()
  const status = new Map<string, CodeRule>()
  const code = new Map<string, CodeRule>()
  let text: readonly TextRule[] = []
  for (const name of files) {
    const file = openFile(name, 'the bounce rules')
    const { content } = file
    const reader = new RulesReader(join(basename(dirname(name)), basename(name)), file)
    refuseOthers(wholeFile(file), content, tables)
    for (const [className, given, place] of reader.tablesIn('classes', content.classes)) {
      const known = reader.className(wholeFile(file, '[classes]'), className, className)
      const effect = reader.effect(place, given, known && classes.get(known))
      if (known !== undefined && effect !== undefined) classes.set(known, effect)
    }
    for (const [provider, given, place] of reader.tablesIn('providers', content.providers)) {
      const read = reader.provider(place, given, providers.get(provider))
      if (read !== undefined) providers.set(provider, read)
    }
    text = over(reader.texts(['text'], content.text), text)
    reader.codes('status', content.status, /^[45x]\.\d{1,3}\.(\d{1,3}|x)$/, status)
    reader.codes('code', content.code, /^[45]\d{0,2}$/, code)
    const missing = bounceClasses.filter((one) => !classes.has(one))
    for (const one of missing) {
      file.problem(['classes'], `[classes.${one}]: nothing given, expected a table`)
    }
    file.refuseBad('Bad bounce rules')
  }
  return { files, classes, providers, text, status, code }
}

/** The later file's rules come first, and replace those of the same name. */
function over(own: readonly TextRule[], below: readonly TextRule[]): readonly TextRule[] {
  const names = new Set(own.map(({ name }) => name))
  return [...own, ...below.filter(({ name }) => !names.has(name))]
}

/** Reads one file's values; a fault becomes a problem of the file, and no exception. */
class RulesReader {
  readonly #shown: string
  readonly #file: OperatorFile

  constructor(shown: string, file: OperatorFile) {
    this.#shown = shown
    this.#file = file
  }

  #place = (path: (string | number)[], says = `[${path.join('.')}]`): TomlPlace => ({
    file: this.#file,
    path,
    says,
  })

  tablesIn(name: string, given: unknown): [string, unknown, TomlPlace][] {
    const tables = Object.entries(tableAt(this.#place([name]), given))
    return tables.map(([key, table]) => [key, table, this.#place([name, key])])
  }

  className(place: TomlPlace, key: string, given: unknown): BounceClass | undefined {
    const found = bounceClasses.find((name) => name === given)
    return found ?? wrongValue(place, key, given, `one of ${bounceClasses.join(', ')}`)
  }

  effect(
    place: TomlPlace,
    given: unknown,
    below: ClassEffect | undefined,
  ): ClassEffect | undefined {
    const fields = tableAt(place, given)
    refuseOthers(place, fields, ['retry', 'suppress', 'event', 'type'])
    const choice = <T extends string>(key: string, choices: readonly T[], usual: T | undefined) => {
      const value = fields[key] ?? usual
      const found = choices.find((name) => name === value)
      return found ?? wrongValue(place, key, value, choices.join(' or '))
    }
    const retry = retryIn(place, fields.retry ?? below?.retry)
    const suppress = choice('suppress', ['no', 'now', 'repeated'], below?.suppress)
    const event = choice('event', ['bounced', 'failed'], below?.event)
    const bounceType = choice('type', ['Permanent', 'Transient'], below?.bounceType)
    return retry && suppress && event && bounceType && { retry, suppress, event, bounceType }
  }

  provider(place: TomlPlace, given: unknown, below: Provider | undefined): Provider | undefined {
    const fields = tableAt(place, given)
    refuseOthers(place, fields, ['hosts', 'text'])
    const hosts = fields.hosts ?? below?.hosts
    const text = this.texts([...place.path, 'text'], fields.text)
    const isHost = (host: unknown) => typeof host === 'string' && /^[a-z0-9.-]{1,253}$/.test(host)
    if (!Array.isArray(hosts) || hosts.length === 0 || !hosts.every(isHost)) {
      return wrongValue(place, 'hosts', hosts, 'a list of host names in lower case')
    }
    return { hosts, text: over(text, below?.text ?? []) }
  }

  texts(path: TomlPlace['path'], given: unknown): TextRule[] {
    if (given === undefined) return []
    const table = path.join('.')
    if (!Array.isArray(given)) {
      this.#file.problem(path, `${table}: ${quoted(given)} given, expected tables [[${table}]]`)
      return []
    }
    return given.flatMap((rule: unknown, index) => {
      const fields: Table = isTable(rule) ? rule : {}
      const name = typeof fields.name === 'string' ? quoted(fields.name) : index + 1
      const place = this.#place([...path, index], `[[${table}]] ${name}`)
      return this.#text(place, fields, `${table} "${fields.name}" of ${this.#shown}`) ?? []
    })
  }

  #text(place: TomlPlace, fields: Table, shown: string): TextRule | undefined {
    const { name, code = '' } = fields
    refuseOthers(place, fields, ['name', 'class', 'patterns', 'unless', 'code'])
    if (typeof name !== 'string' || name === '') return wrongValue(place, 'name', name, 'a text')
    if (typeof code !== 'string' || !/^([45]\d{0,2})?$/.test(code)) {
      return wrongValue(place, 'code', code, 'a text such as "5"')
    }
    const found = this.className(place, 'class', fields.class)
    const patterns = patternsIn(place, 'patterns', fields.patterns)
    const none: Pattern[] = []
    const unless = fields.unless === undefined ? none : patternsIn(place, 'unless', fields.unless)
    if (found === undefined || patterns === undefined || unless === undefined) return undefined
    return { name, class: found, code, patterns, unless, shown }
  }

  codes(table: string, given: unknown, form: RegExp, into: Map<string, CodeRule>): void {
    const place = this.#place([table])
    for (const [key, value] of Object.entries(tableAt(place, given))) {
      if (!form.test(key)) {
        this.#file.problem([table, key], `[${table}]: ${quoted(key)} given, expected a code`)
      }
      const found = this.className(place, key, value)
      if (found !== undefined)
        into.set(key, { class: found, shown: `${table} ${key} of ${this.#shown}` })
    }
  }
}

function retryIn(place: TomlPlace, given: unknown): Retry | undefined {
  const word = (['no', 'yes', 'slow', 'once'] as const).find((name) => name === given)
  if (word !== undefined) return word
  const atMost = isTable(given) ? given.atMost : given
  if (Number.isInteger(atMost) && Number(atMost) >= 1 && Number(atMost) <= 100) {
    return { atMost: Number(atMost) }
  }
  return wrongValue(place, 'retry', given, '"no", "yes", "slow", "once" or a number of attempts')
}

function patternsIn(place: TomlPlace, key: string, given: unknown): Pattern[] | undefined {
  const texts: unknown[] = Array.isArray(given) ? given : []
  const patterns = texts.map((text) => (typeof text === 'string' ? makePattern(text) : undefined))
  const good = patterns.filter((pattern) => pattern !== undefined)
  if (good.length > 0 && good.length === texts.length) return good
  const bad = texts[patterns.indexOf(undefined)] ?? given
  return wrongValue(place, key, bad, 'a list of texts of up to 200 characters')
}
