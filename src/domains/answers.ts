import { isoTime } from '../clock/index.js'
import type { Domain, DomainKey } from './domain.js'
import {
  type DnsRecord,
  domainRecords,
  oldRecords,
  type RecordCheck,
  type RecordSettings,
  zoneFile,
} from './records.js'
import { choiceOf } from './switch.js'

/** What a domain has set; null: what stands above it applies. */
export interface SetByDomain {
  opens: boolean | null
  clicks: boolean | null
}

const asAbove: SetByDomain = { opens: null, clicks: null }

const shownKey = ({ selector, algorithm, verified }: DomainKey) => ({
  selector,
  algorithm,
  verified,
})

/** A domain as the API and commands show it; without `own` it has set nothing itself, like a new one. */
export const shownDomain = (domain: Domain, own: SetByDomain = asAbove) => ({
  id: domain.id,
  name: domain.name,
  status: domain.status,
  trusted: domain.trusted,
  returnPath: domain.returnPath,
  dkim: domain.keys.map(shownKey),
  dkimNext: domain.next.map(shownKey),
  trackOpens: choiceOf(own.opens),
  trackClicks: choiceOf(own.clicks),
  trackingHost: domain.trackingHost,
  trackingHostReady: domain.trackingHostReady,
  receivingHost: domain.receivingHost,
  receivingHostReady: domain.receivingHostReady,
  createdAt: isoTime(domain.createdAt),
  verifiedAt: isoTime(domain.verifiedAt),
  checkedAt: isoTime(domain.checkedAt),
})

/** A record as the API shows it. */
const shownRecord = ({ purpose, type, host, value, required }: DnsRecord) => ({
  purpose,
  type,
  name: host,
  value,
  required,
})

/** A record with what was found. */
export const shownCheck = ({ state, found, advice, ...record }: RecordCheck) => ({
  ...shownRecord(record),
  state,
  found,
  advice,
})

/** The records to publish, and those of earlier keys. */
export function toPublish(domain: Domain, settings: RecordSettings, now: number) {
  const records = domainRecords(domain, settings)
  return {
    records: records.map(shownRecord),
    zone: zoneFile(records),
    oldRecords: oldRecords(domain, now).map(({ host, value, mayGoAt, mayGo }) => ({
      name: host,
      value,
      mayGoAt: isoTime(mayGoAt),
      mayGo,
    })),
  }
}

/** The answer to a deletion; `automations` send from the domain. */
export function deletedDomain(id: string, automations: { id: string; name: string }[]) {
  const deleted = 'Domain and its keys deleted'
  const message = automations.length === 0 ? deleted : `${deleted}; ${runsWait}`
  return { id, deleted: true, message, automations }
}

const runsWait = 'runs of automations that send from it wait until it is added and verified again'
