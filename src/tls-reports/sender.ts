import { oldestVerifiedDomain } from '../domains/index.js'
import { parseMailbox } from '../mime/index.js'
import type { Read } from '../store/index.js'

/** `[tls_reports]` of the settings; an empty one has a default that follows from the others. */
export interface TlsReportSettings {
  enabled: boolean
  from: string
  organization: string
  contact: string
}

/** The sender in whose name reports are made. */
export interface ReportSender {
  /** The domain of ours that signs them. */
  domainId: string
  domain: string
  from: string
  organization: string
  contact: string
}

/** Undefined: no verified domain can send them. */
export async function findReportSender(
  read: Read,
  settings: TlsReportSettings,
  heloName: string,
): Promise<ReportSender | undefined> {
  const domain = await oldestVerifiedDomain(read, parseMailbox(settings.from)?.domain)
  if (domain === undefined) return undefined
  return {
    domainId: domain.id,
    domain: domain.name,
    // Bounces go to its return path; the contact is the address for people.
    from: settings.from || `TLS reports <tls-reports@${domain.name}>`,
    organization: settings.organization || domain.name,
    contact: settings.contact || `postmaster@${heloName}`,
  }
}
