import type { QuestionKind, Resolver } from '../../src/dns/resolver.js'
import { type StaticHost, type StaticRecords, staticResolver } from '../../src/dns/static.js'

export interface FakeResolver extends Resolver {
  /** Every question so far, in order: `'mx a.test'`. */
  readonly questions: string[]
  /** How often a name was asked for, for all types unless one is given. */
  count(name: string, question?: QuestionKind): number
  /** Changes what a name answers from now on; `undefined` makes it unknown again. */
  set(name: string, host: StaticHost | undefined): void
}

/**
 * A DNS in a table: `fakeResolver({ 'a.test': { mx: [{ preference: 10, exchange: 'mx.a.test' }] },
 * 'mx.a.test': { a: ['8.8.8.8'] }, 'down.test': { fail: 'SERVFAIL' } })`. A name that is not in it
 * is `nxdomain`. Note that 192.0.2.0/24 and the like are not public: routes to them are refused.
 */
export function fakeResolver(records: StaticRecords = {}): FakeResolver {
  const table = new Map(Object.entries(records))
  let answers = staticResolver(records)
  const questions: string[] = []
  const ask = <Q extends QuestionKind>(question: Q): Resolver[Q] =>
    ((name: string) => {
      questions.push(`${question} ${name}`)
      return answers[question](name)
    }) as Resolver[Q]
  return {
    questions,
    count: (name, question) =>
      questions.filter((asked) =>
        question ? asked === `${question} ${name}` : asked.endsWith(` ${name}`),
      ).length,
    set(name, host) {
      if (host === undefined) table.delete(name)
      else table.set(name, host)
      answers = staticResolver(Object.fromEntries(table))
    },
    mx: ask('mx'),
    a: ask('a'),
    aaaa: ask('aaaa'),
    txt: ask('txt'),
    cname: ask('cname'),
    ptr: ask('ptr'),
  }
}
