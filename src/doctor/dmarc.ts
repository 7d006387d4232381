import { isBelow, type Resolver } from '../dns/index.js'
import { type Domain, type RecordCheck, zoneLine } from '../domains/index.js'
import { type Finding, findingsOf } from './finding.js'
import { recordsOf } from './source-addresses.js'

/**
 * Whether mail from the domain passes DMARC (RFC 9989): a policy is published, and DKIM or SPF
 * passes for a domain that aligns with the From header's.
 */
export async function checkAlignment(
  resolver: Resolver,
  domain: Domain,
  records: readonly RecordCheck[],
): Promise<Finding> {
  const of = findingsOf('dmarc', domain.name)
  const stateOf = (purpose: RecordCheck['purpose']) =>
    records.find((record) => record.purpose === purpose)?.state
  const policy = await findPolicy(resolver, domain.name)
  if (policy.kind === 'failed') return of.noAnswer(policy.cause)
  const own = records.find((record) => record.purpose === 'dmarc')
  if (policy.kind === 'several') {
    return of.warn(`several policies at _dmarc.${policy.at}: receivers use none`, 'keep one')
  }
  if (policy.kind === 'none') {
    return of.warn('no policy', own === undefined ? '' : `publish ${zoneLine(own)}`)
  }
  // We sign with d= the From domain itself, which aligns in strict mode as well.
  const dkim = stateOf('dkim-rsa') === 'ok'
  const strictSpf = /;\s*aspf\s*=\s*s\s*(;|$)/i.test(policy.text)
  const spf =
    !strictSpf && stateOf('return-path-mx') === 'ok' && stateOf('return-path-spf') === 'ok'
  const by = [dkim ? 'DKIM' : '', spf ? 'SPF' : ''].filter((name) => name !== '')
  const where = policy.at === domain.name ? '' : ` (of ${policy.at})`
  const found = `p=${policy.action}${where}, aligned by ${by.join(' and ') || 'nothing'}`
  if (dkim) return of.ok(found)
  if (stateOf('dkim-rsa') === 'unknown') {
    return of.lackingDns(`p=${policy.action}${where}; of its DKIM key`)
  }
  const fix = 'publish the DKIM record above: SPF alone does not survive forwarding'
  return spf || policy.action === 'none' ? of.warn(found, fix) : of.fail(found, fix)
}

/**
 * Whether receivers may send us the reports that the domain's policy asks for. RFC 7489 §7.1: if the
 * address belongs to another organization, its zone has to say that it wants them. Only a name below
 * the other counts as the same organization: an unneeded record does no harm.
 */
export async function checkAuthorisation(
  resolver: Resolver,
  domain: string,
  reportsTo: string | undefined,
): Promise<Finding[]> {
  const host = reportsTo?.split('@')[1]?.toLowerCase()
  if (host === undefined || isBelow(host, domain) || isBelow(domain, host)) return []
  const policy = await findPolicy(resolver, domain)
  if (policy.kind !== 'policy' || isBelow(host, policy.at)) return []
  const rua = /;\s*rua\s*=([^;]*)/i.exec(policy.text)?.[1] ?? ''
  const uris = rua.split(',').map((uri) => uri.trim().toLowerCase().split('!')[0])
  if (!uris.includes(`mailto:${reportsTo?.toLowerCase()}`)) return []
  const of = findingsOf('dmarc-authorisation', domain)
  // A receiver asks about the domain where it found the policy.
  const name = `${policy.at}._report._dmarc.${host}`
  const answer = await resolver.txt(name)
  if (answer.kind === 'failed') {
    return [of.noAnswer(answer.cause)]
  }
  if (recordsOf(answer).some((text) => /^v=DMARC1\s*(;|$)/.test(text))) {
    return [of.ok(`${host} says that it wants the reports`)]
  }
  return [
    of.warn(
      `TXT of ${name} is missing: receivers send no reports to ${reportsTo}`,
      `publish ${name}. 3600 IN TXT "v=DMARC1;"`,
    ),
  ]
}

type Policy =
  | { kind: 'policy'; at: string; text: string; action: string }
  | { kind: 'several'; at: string }
  | { kind: 'none' }
  | { kind: 'failed'; cause: string }

// RFC 9989's tree walk ends after this many names.
const maxNames = 8

/** The domain's own policy, else that of the nearest domain above it. */
async function findPolicy(resolver: Resolver, domain: string): Promise<Policy> {
  const labels = domain.split('.')
  for (let i = 0; i < Math.min(labels.length - 1, maxNames); i++) {
    const at = labels.slice(i).join('.')
    const answer = await resolver.txt(`_dmarc.${at}`)
    if (answer.kind === 'failed') return { kind: 'failed', cause: answer.cause }
    const policies = recordsOf(answer).filter((text) => /^v=DMARC1\s*(;|$)/.test(text))
    if (policies.length > 1) return { kind: 'several', at }
    const [text] = policies
    if (text === undefined) continue
    const action = /;\s*p\s*=\s*(none|quarantine|reject)\s*(;|$)/i.exec(text)?.[1]
    return { kind: 'policy', at, text, action: action?.toLowerCase() ?? 'none' }
  }
  return { kind: 'none' }
}
