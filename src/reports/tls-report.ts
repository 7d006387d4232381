/** A report about TLS as it was read (RFC 8460 §4.4); all of it is the writer's claim. */
export interface TlsReport {
  organization: string
  reportId: string
  /** Milliseconds since 1970. */
  beginsAt: number
  endsAt: number
  policies: readonly TlsReportPolicy[]
}

export interface TlsReportPolicy {
  domain: string
  successes: number
  failures: number
  /** Failed sessions by the type of failure. */
  types: Readonly<Record<string, number>>
}

const maxPolicies = 1_000
const maxTypes = 20

/** Reads the JSON of a report. Throws with what is wrong. */
export function readTlsReport(json: string): TlsReport {
  const report = fieldsOf(JSON.parse(json))
  const range = fieldsOf(report['date-range'])
  const policies = listOf(report.policies)
  if (policies.length === 0) throw new Error('it has no policies')
  if (policies.length > maxPolicies) throw new Error(`more than ${maxPolicies} policies`)
  return {
    organization: textOf(report['organization-name']),
    reportId: textOf(report['report-id']),
    beginsAt: timeOf(range['start-datetime']),
    endsAt: timeOf(range['end-datetime']),
    policies: policies.map(policyOf),
  }
}

function policyOf(given: unknown): TlsReportPolicy {
  const { policy, summary, 'failure-details': details } = fieldsOf(given)
  const counts = fieldsOf(summary)
  const types: Record<string, number> = {}
  for (const detail of listOf(details)) {
    const one = fieldsOf(detail)
    const type = textOf(one['result-type'])
    if (!/^[a-z-]{1,50}$/.test(type)) continue
    if (!Object.hasOwn(types, type) && Object.keys(types).length === maxTypes) continue
    types[type] = (types[type] ?? 0) + countOf(one['failed-session-count'])
  }
  return {
    domain: textOf(fieldsOf(policy)['policy-domain']).toLowerCase().replace(/\.$/, ''),
    successes: countOf(counts['total-successful-session-count']),
    failures: countOf(counts['total-failure-session-count']),
    types,
  }
}

const fieldsOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
const textOf = (value: unknown) => (typeof value === 'string' ? value.slice(0, 300) : '')

function timeOf(value: unknown): number {
  const time = Date.parse(textOf(value))
  if (Number.isNaN(time)) throw new Error('its date-range is not a time')
  return time
}

function countOf(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value < 1e10
    ? value
    : 0
}
