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

/** As a domain has them set; null: whatever stands above it says. */
export interface SetByDomain {
  opens: boolean | null
  clicks: boolean | null
}

const asAbove: SetByDomain = { opens: null, clicks: null }
/** A switch as the API has it. */
const choiceOf = (flag: boolean | null) => (flag === null ? 'default' : flag ? 'on' : 'off')

const shownKey = ({ selector, algorithm, verified }: DomainKey) => ({
  selector,
  algorithm,
  verified,
})

/** A domain as the API and commands show it; without `own` it has set nothing itself, as a new one. */
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

/** The records to publish, and those of keys before. */
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

/** What is answered when it was deleted; `automations` send from it. */
export function deletedDomain(id: string, automations: { id: string; name: string }[]) {
  const deleted = 'Domain and its keys deleted'
  const message = automations.length === 0 ? deleted : `${deleted}; ${runsWait}`
  return { id, deleted: true, message, automations }
}

const runsWait = 'runs of automations that send from it wait until it is added and verified again'
