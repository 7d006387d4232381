import {
  canonicalName,
  type DnsAnswer,
  type MxRecord,
  type QuestionKind,
  type Resolver,
  type ValidatedResolver,
} from './resolver.js'

/** What one name answers. A type that is left out has no records; `fail` answers every question. */
export interface StaticHost {
  mx?: readonly MxRecord[]
  a?: readonly string[]
  aaaa?: readonly string[]
  txt?: readonly string[]
  cname?: string
  ptr?: readonly string[]
  /** `'nxdomain'`, or the cause of a temporary failure (`'SERVFAIL'`). */
  fail?: string
}

/** By name, or address for PTR. `*.test` stands for all below `test`, `*` for every name. */
export type StaticRecords = Readonly<Record<string, StaticHost>>

// RFC 1034 §3.6.2 forbids circles; other resolvers do not follow more than a few links either.
const maxCnames = 8

/**
 * Answers from a table given in configuration (split horizon, sandbox, tests). A name in the table is answered only
 * from there. Any other goes to `fallback`; without a fallback it is `nxdomain`.
 */
export function staticResolver(records: StaticRecords, fallback?: Resolver): Resolver {
  const table = new Map(Object.entries(records).map(([name, host]) => [canonicalName(name), host]))

  /** RFC 4592 §2.2.1: the name itself, otherwise the closest wildcard above it. */
  function find(name: string): StaticHost | undefined {
    const exact = table.get(name)
    if (exact !== undefined) return exact
    const labels = name.split('.')
    for (let i = 1; i <= labels.length; i++) {
      const wildcard = table.get(['*', ...labels.slice(i)].join('.'))
      if (wildcard !== undefined) return wildcard
    }
    return undefined
  }

  async function answer<T>(
    question: QuestionKind,
    asked: string,
    read: (host: StaticHost) => readonly T[] | undefined,
  ): Promise<DnsAnswer<T>> {
    let name = canonicalName(asked)
    for (let links = 0; links <= maxCnames; links++) {
      const host = find(name)
      if (host === undefined) {
        // Sound for every question: the fallback answers `mx` with MX records.
        return fallback ? ((await fallback[question](name)) as DnsAnswer<T>) : { kind: 'nxdomain' }
      }
      if (host.fail === 'nxdomain') return { kind: 'nxdomain' }
      if (host.fail !== undefined) return { kind: 'failed', cause: host.fail }
      const found = read(host)
      if (found !== undefined && found.length > 0) return { kind: 'records', records: found }
      if (host.cname === undefined) return { kind: 'none' }
      name = canonicalName(host.cname)
    }
    return { kind: 'failed', cause: `CNAMEs of ${asked} go in a circle` }
  }

  const tidy = (names: readonly string[] | undefined) => names?.map(canonicalName)
  return {
    mx: (name) =>
      answer('mx', name, (host) =>
        host.mx?.map((mx) => ({ ...mx, exchange: canonicalName(mx.exchange) })),
      ),
    a: (name) => answer('a', name, (host) => host.a),
    aaaa: (name) => answer('aaaa', name, (host) => host.aaaa),
    txt: (name) => answer('txt', name, (host) => host.txt),
    cname: (name) =>
      answer('cname', name, (host) => tidy(host.cname === undefined ? [] : [host.cname])),
    ptr: (address) => answer('ptr', address, (host) => tidy(host.ptr)),
    ...(fallback?.validated && { validated: unsignedTable(fallback.validated) }),
  }

  /** Answers of the table have no signatures; all others stay as they were. */
  function unsignedTable(validated: ValidatedResolver): ValidatedResolver {
    const unsigned = { kind: 'none', secure: false } as const
    const here = (name: string) => find(canonicalName(name)) !== undefined
    return {
      mx: async (name) => (here(name) ? unsigned : validated.mx(name)),
      a: async (name) => (here(name) ? unsigned : validated.a(name)),
      tlsa: async (name) => (here(name) ? unsigned : validated.tlsa(name)),
    }
  }
}
