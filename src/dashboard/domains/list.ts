import { type Domain, listDomains } from '../../domains/index.js'
import { pageOf, type Read, textCursorOf, textInCursor } from '../../store/index.js'
import { type Moment, moment } from '../format.js'
import { type PageAnswer, page } from '../shell/answer.js'
import { type BesidePages, listOf } from '../shell/listing.js'
import type { Visit } from '../shell/visit.js'
import { type StateView, stateOf } from './state.js'

/** One page of the list. */
interface DomainsView extends BesidePages {
  base: string
  accountId: string
  mayWrite: boolean
  domains: {
    name: string
    url: string
    state: StateView
    signs: string
    links: string
    checked: Moment | undefined
  }[]
}

const pageSize = 50

/** The account's domains, by name. */
export async function listPage(read: Read, visit: Visit): Promise<PageAnswer> {
  const { account, base, query, now } = visit
  // The cursor is signed for this list of this account: one of another account does not work.
  const scope = `domains page ${account.id}`
  const { rows, ...beside } = await listOf({ path: `${base}/domains`, query }, async (cursor) => {
    const after = cursor === undefined ? undefined : textInCursor(cursor, scope)
    const found = await listDomains(read, account.id, { after, limit: pageSize + 1 })
    return pageOf(found, pageSize, ({ name }) => textCursorOf(name, scope))
  })
  const view: DomainsView = {
    base,
    accountId: account.id,
    mayWrite: visit.may('domains.write'),
    domains: rows.map((domain) => ({
      name: domain.name,
      url: `${base}/domains/${domain.name}`,
      state: stateOf(domain),
      signs: signsWith(domain),
      links: linksBy(domain),
      checked: domain.checkedAt === null ? undefined : moment(domain.checkedAt, now),
    })),
    ...beside,
  }
  return page('domains/list', view, { title: 'Domains' })
}

const algorithms = { 'rsa-sha256': 'RSA', 'ed25519-sha256': 'Ed25519' } as const

/** The keys that sign its mail. */
export function signsWith({ keys }: Domain): string {
  const signing = keys.filter(({ verified }) => verified)
  return signing.map(({ algorithm }) => algorithms[algorithm]).join(' and ') || 'nothing yet'
}

/** The host in tracked links. */
function linksBy({ trackingHost, trackingHostReady }: Domain): string {
  if (trackingHost === null) return 'the appliance'
  return trackingHostReady ? trackingHost : `the appliance, until ${trackingHost} leads here`
}
