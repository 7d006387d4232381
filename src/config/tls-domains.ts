import { isTable } from '../toml/index.js'
import { table } from './settings.js'

/**
 * The setting `outbound.tls.domains`: the TLS that the operator demands of a domain's servers, whatever they publish.
 */
export const tlsOfDomains = table<Readonly<Record<string, TlsChoice>>>(
  {},
  (value) => (isTlsTable(value) ? value : undefined),
  'a table of domains, each "off", "opportunistic", "require" or "verify"',
)

/**
 * `opportunistic` wins over what the domain publishes, and `off` is for servers whose TLS is
 * broken.
 */
type TlsChoice = (typeof tlsChoices)[number]
const tlsChoices = ['off', 'opportunistic', 'require', 'verify'] as const

/** Whether it is a table by domains, by `*.` and a domain for all below it, or by `*` for all. */
function isTlsTable(value: unknown): value is Readonly<Record<string, TlsChoice>> {
  if (!isTable(value)) return false
  return Object.entries(value).every(
    ([domain, choice]) =>
      /^(\*|(\*\.)?[^\s*@.]+(\.[^\s*@.]+)*)$/.test(domain) &&
      tlsChoices.some((one) => one === choice),
  )
}
