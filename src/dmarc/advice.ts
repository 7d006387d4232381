/** Whose an address is, as far as we know. */
export type SourceKind = 'ours' | 'forwarder' | 'service' | 'other'

interface Seen {
  kind: SourceKind
  /** How many passed DMARC, and how many did not. */
  passed: number
  failed: number
}

/**
 * `forwarder`: receivers say so, or it brings what was signed for the domain, which mail keeps on its way
 * on. `service`: somebody else who sends in the domain's name and passes by SPF.
 */
export function kindOf(seen: {
  isOurs: boolean
  forwarded: number
  dkimPassed: number
  spfPassed: number
}): SourceKind {
  if (seen.isOurs) return 'ours'
  if (seen.spfPassed > 0) return 'service'
  return seen.forwarded > 0 || seen.dkimPassed > 0 ? 'forwarder' : 'other'
}

/** What to do about an address; empty where nothing is. */
export function adviceFor({ kind, passed, failed }: Seen, domain: string, policy: string): string {
  if (failed === 0) return ''
  switch (kind) {
    case 'ours':
      return `Mail of this appliance fails: 'posthorn domain verify ${domain}' shows which record is wrong`
    case 'forwarder':
      return passed > 0 ? '' : 'Forwarded mail loses SPF; nothing is to be done while DKIM is right'
    case 'service':
      return 'If you use this service, have it sign with DKIM for the domain'
    case 'other':
      return policy === 'reject'
        ? ''
        : 'If it is yours, have it sign with DKIM for the domain; else publish p=quarantine, then p=reject'
  }
}
