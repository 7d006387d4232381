import type { ApiKey } from '../../accounts/index.js'
import { isoDay } from '../../clock/index.js'
import { listDomains } from '../../domains/index.js'
import type { Read } from '../../store/index.js'
import { type Moment, moment } from '../format.js'
import { scopeWords } from './form.js'

/** A key as its pages show it. */
export interface KeyView {
  id: string
  name: string
  last4: string
  scope: ApiKey['scope']
  /** What it may do, in words. */
  may: string
  from: string
  /** How many mails it may hand in, in words. */
  mails: string
  expires: { text: string; isOver: boolean; day: string }
  created: Moment
  lastUsed: Moment | undefined
}

/** What pages show of a key: never the key itself, as only its hash is stored. */
export function keyView(key: ApiKey, now: number): KeyView {
  const { id, name, last4, scope, domains, networks, expiresAt } = key
  const day = expiresAt === null ? '' : isoDay(expiresAt)
  return {
    id,
    name,
    last4,
    scope,
    may: domains === null ? scopeWords[scope] : withDomains(scope, domains),
    from: networks === null ? 'anywhere' : listed(networks),
    mails: mailsWords(key),
    expires: { text: textOf(expiresAt, now), isOver: expiresAt !== null && expiresAt <= now, day },
    created: moment(key.createdAt, now),
    lastUsed: key.lastUsedAt === null ? undefined : moment(key.lastUsedAt, now),
  }
}

/** How many mails the key may hand in. */
export function mailsWords({ perHour, perMinute }: Pick<ApiKey, 'perHour' | 'perMinute'>): string {
  const shown = [
    ...(perHour === null ? [] : [`${perHour.toLocaleString('en-GB')} an hour`]),
    ...(perMinute === null ? [] : [`${perMinute.toLocaleString('en-GB')} a minute`]),
  ]
  return shown.join(', ') || 'any number'
}
const withDomains = (scope: ApiKey['scope'], domains: readonly string[]) =>
  `Sends ${scope === 'test' ? 'test mail' : 'mail'} from ${listed(domains)}`

// A key may have 50 networks or domains; its own page lists all.
const mostListed = 5

const listed = (items: readonly string[]) =>
  items.length > mostListed
    ? `${items.slice(0, mostListed).join(', ')} and ${items.length - mostListed} more`
    : items.join(', ')

/** When the key expires, or expired. */
function textOf(expiresAt: number | null, now: number): string {
  if (expiresAt === null) return 'never'
  const day = isoDay(expiresAt)
  return expiresAt <= now ? `expired on ${day}` : `on ${day}`
}

// More boxes do not help, and are too many for a page: then domains are typed.
const mostBoxes = 30

/** The account's domains, to tick; undefined where there are too many. */
export async function domainBoxes(read: Read, accountId: string): Promise<string[] | undefined> {
  const domains = await listDomains(read, accountId, { limit: mostBoxes + 1 })
  return domains.length > mostBoxes ? undefined : domains.map(({ name }) => name)
}
