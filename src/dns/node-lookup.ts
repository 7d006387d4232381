import type { DnsAnswer, Resolver } from './resolver.js'

type Records = string[] | string[][] | { exchange: string; priority: number }[]

/**
 * A resolver in the shape that mailauth wants, that of Node's `dns.promises.resolve`: records as Node gives them,
 * errors with its codes. No PTR: RFC 7208 §5.5 asks domains not to use that mechanism.
 */
export function nodeLookup(
  resolver: Resolver,
): (name: string, type: string) => Promise<string[] | string[][]> {
  return async (name, type) => {
    // mailauth's type leaves out MX records, which it does read.
    return (await ask(resolver, name, type)) as string[] | string[][]
  }
}

async function ask(resolver: Resolver, name: string, type: string): Promise<Records> {
  switch (type) {
    case 'TXT':
      return found(await resolver.txt(name), name).map((text) => [text])
    case 'MX':
      return found(await resolver.mx(name), name).map((mx) => ({
        exchange: mx.exchange,
        priority: mx.preference,
      }))
    case 'A':
      return [...found(await resolver.a(name), name)]
    case 'AAAA':
      return [...found(await resolver.aaaa(name), name)]
    case 'CNAME':
      return [...found(await resolver.cname(name), name)]
    default:
      return [...found<string>({ kind: 'none' }, name)]
  }
}

function found<T>(answer: DnsAnswer<T>, name: string): readonly T[] {
  if (answer.kind === 'records') return answer.records
  const code =
    answer.kind === 'nxdomain' ? 'ENOTFOUND' : answer.kind === 'none' ? 'ENODATA' : 'ESERVFAIL'
  throw Object.assign(new Error(`${code} ${name}`), { code })
}
