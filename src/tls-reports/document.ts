import { dayMs, isoTime } from '../clock/index.js'
import type { Read, TlsSessionsRow } from '../store/index.js'

/** A report as its receiver gets it (RFC 8460 §4.4). */
export interface ReportDocument {
  'organization-name': string
  'date-range': { 'start-datetime': string; 'end-datetime': string }
  'contact-info': string
  'report-id': string
  policies: ReportedPolicy[]
}

/** The sessions under one policy. */
interface ReportedPolicy {
  policy: {
    'policy-type': TlsSessionsRow['policy_type']
    'policy-string'?: string[]
    'policy-domain': string
    'mx-host'?: string[]
  }
  summary: {
    'total-successful-session-count': number
    'total-failure-session-count': number
  }
  'failure-details'?: FailureDetail[]
}

/** Failures of one kind at one server. */
interface FailureDetail {
  'result-type': string
  'sending-mta-ip'?: string
  'receiving-mx-hostname'?: string
  'receiving-mx-helo'?: string
  'receiving-ip'?: string
  'failed-session-count': number
  'failure-reason-code'?: string
}

/** What a report is about, and who sends it. */
export interface DocumentOf {
  day: number
  domain: string
  organization: string
  contact: string
  reportId: string
}

/** The report on a domain's sessions of a day. */
export async function makeDocument(read: Read, of: DocumentOf): Promise<ReportDocument> {
  const { day, domain } = of
  const rows = await read
    .selectFrom('tls_sessions')
    .selectAll()
    .where('day', '=', day)
    .where('domain', '=', domain)
    .orderBy('sessions', 'desc')
    .execute()
  const policies = new Map<string, TlsSessionsRow[]>()
  for (const row of rows) {
    const policy = `${row.policy_type} ${row.policy}`
    policies.set(policy, [...(policies.get(policy) ?? []), row])
  }
  return {
    'organization-name': of.organization,
    'date-range': {
      'start-datetime': second(day * dayMs),
      'end-datetime': second((day + 1) * dayMs - 1_000),
    },
    'contact-info': of.contact,
    'report-id': of.reportId,
    policies: [...policies.values()].map((sessions) => reportedPolicy(domain, sessions)),
  }
}

/** The sessions that were counted under a policy. */
function reportedPolicy(domain: string, rows: readonly TlsSessionsRow[]): ReportedPolicy {
  const [first] = rows
  const { text, mx } = JSON.parse(first?.policy ?? '{}') as { text: string[]; mx: string[] }
  const failed = rows.filter(({ result }) => result !== '')
  const total = (of: readonly TlsSessionsRow[]) => of.reduce((sum, row) => sum + row.sessions, 0)
  return {
    policy: {
      'policy-type': first?.policy_type ?? 'no-policy-found',
      ...(text.length > 0 && { 'policy-string': text }),
      'policy-domain': domain,
      ...(mx.length > 0 && { 'mx-host': mx }),
    },
    summary: {
      'total-successful-session-count': total(rows) - total(failed),
      'total-failure-session-count': total(failed),
    },
    ...(failed.length > 0 && { 'failure-details': failed.map(failureDetail) }),
  }
}

/** A row in the form of the reports, without the details that it does not have. */
const failureDetail = (row: TlsSessionsRow): FailureDetail => ({
  'result-type': row.result,
  ...(row.sending_address && { 'sending-mta-ip': row.sending_address }),
  ...(row.mx_host && { 'receiving-mx-hostname': row.mx_host }),
  ...(row.mx_name && { 'receiving-mx-helo': row.mx_name }),
  ...(row.receiving_address && { 'receiving-ip': row.receiving_address }),
  'failed-session-count': row.sessions,
  ...(row.reason && { 'failure-reason-code': row.reason }),
})

/** RFC 3339 without fractions, as in the examples of RFC 8460. */
const second = (ms: number) => isoTime(ms).replace('.000Z', 'Z')
