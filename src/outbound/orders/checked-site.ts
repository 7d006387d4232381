import { domainToASCII } from 'node:url'
import { OperatorError } from '../../errors/index.js'
import { isHostName, type ShapingData } from '../shaping/index.js'

/**
 * The site or domain that somebody names, in the form in which it is compared: a provider of shaping.toml, a domain
 * in its ASCII form (RFC 5890 §2.3.2.1), or the longer name that a site has in `posthorn shaping show`. Throws an
 * `OperatorError` for any other, which would hold no mail at all.
 */
export function checkedSite({ providers }: Pick<ShapingData, 'providers'>, given: string): string {
  const trimmed = given.trim()
  const site = (domainToASCII(trimmed) || trimmed).toLowerCase()
  const [first = '', ...more] = site.split(' ')
  const isSite = providers.has(first) || (first === 'mx' && more.length > 0) || hasLabels(first)
  if (isSite && more.every((word) => word === 'for' || hasLabels(word))) return site
  const known = [...providers.keys()].sort().join(', ')
  throw new OperatorError(
    `${JSON.stringify(trimmed)} is no site: expected a recipients' domain such as example.org, or a provider of shaping.toml (${known})`,
  )
}

/** A domain, or the folded names of hosts: with # for digits, and a final dot where a name has no other. */
const hasLabels = (word: string) =>
  word.includes('.') &&
  word
    .split(',')
    .every((host) => isHostName(host.replaceAll('#', '0').replace(/^([^.]+)\.$/, '$1')))
