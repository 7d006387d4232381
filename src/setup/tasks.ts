import type { Finding } from '../doctor/index.js'
import type { SetupAnswers } from './answers.js'
import type { WantedRecord } from './wanted-records.js'

/** Something that only the operator can do, elsewhere. */
export interface Task {
  where: string
  what: string
}

/** What is left for the operator, in the best order; tasks that the doctor saw done are left out. */
export function leftToDo(
  answers: SetupAnswers,
  records: readonly WantedRecord[],
  findings: readonly Finding[],
  proxyExample: string,
): Task[] {
  if (answers.route === 'sandbox') return []
  const { hostName, certificates, domain } = answers
  const isGood = (...checks: string[]) => {
    const of = findings.filter(({ check }) => checks.includes(check))
    return of.length > 0 && of.every(({ state }) => state === 'ok')
  }
  const reverse = records.filter(({ where }) => where === 'provider')
  const provider = "at this machine's provider"
  const tasks: (Task | false)[] = [
    !isGood('outbound-port') && {
      where: provider,
      what: 'have TCP port 25 opened outward; many do so on request',
    },
    !isGood('ptr') && {
      where: provider,
      what: `set the reverse name (PTR) of ${reverse.map(addressOf).join(' and ')} to ${hostName}`,
    },
    !isGood('helo', 'dkim', 'return-path', 'spf', 'dmarc', 'dmarc-authorisation', 'tracking') && {
      where: 'at the DNS of your domains',
      what: 'publish the records above',
    },
    !isGood('listener') && {
      where: 'in the firewalls, here and at the provider',
      // Port 80 is needed with a proxy too: certificates are proved there, and old links begin there.
      what: 'let in TCP ports 25, 80 and 443',
    },
    certificates === 'proxy' &&
      !isGood('certificate') && {
        where: 'on this machine',
        what: `put a TLS proxy for ${hostName} before port 8081: ${proxyExample}, or nginx.conf.example beside it`,
      },
  ]
  const left = tasks.filter((task) => task !== false)
  if (left.length === 0) return []
  return [
    ...left,
    {
      where: 'here',
      what: `posthorn domain verify ${domain}, then posthorn doctor, until both are content`,
    },
  ]
}

/** The address that a PTR record is about. */
function addressOf({ host }: WantedRecord): string {
  const labels = host.split('.').slice(0, -2).reverse()
  if (host.endsWith('.in-addr.arpa')) return labels.join('.')
  return labels.join('').replace(/.{4}(?=.)/g, '$&:')
}
