import { listAccounts } from '../accounts/index.js'
import {
  checkRecords,
  type DnsRecord,
  type Domain,
  listDomains,
  oldRecords,
  ownMechanisms,
  type RecordCheck,
  recordSettingsOf,
  spfMechanisms,
  zoneLine,
} from '../domains/index.js'
import type { Read } from '../store/index.js'
import { checkAlignment, checkAuthorisation } from './dmarc.js'
import { type DoctorDeps, type Finding, findingsOf } from './finding.js'
import { recordsOf } from './source-addresses.js'

/** What each sending domain publishes, and whether its mail then passes DMARC. */
export async function checkDomains(deps: DoctorDeps): Promise<Finding[]> {
  const domains = await allDomains(deps.read)
  const found = await Promise.all(domains.map((domain) => checkDomain(deps, domain)))
  if (domains.length > 0) return found.flat()
  const fix = 'posthorn domain add example.com, then publish the records that it shows'
  return [findingsOf('domain', 'none').warn('no sending domain yet', fix)]
}

/** The domains of all accounts. */
export async function allDomains(read: Read): Promise<Domain[]> {
  const accounts = await listAccounts(read)
  return (await Promise.all(accounts.map(({ id }) => listDomains(read, id)))).flat()
}

/**
 * DMARC has a check of its own, since its record may stand at the domain above (RFC 7489 §6.6.3).
 */
async function checkDomain(deps: DoctorDeps, domain: Domain): Promise<Finding[]> {
  const settings = await recordSettingsOf(deps.read, deps.config)
  const records = await checkRecords(deps.resolver, domain, settings)
  const unsigned = !records.some(
    ({ purpose, state }) => isKey(purpose) && (state === 'ok' || state === 'unknown'),
  )
  const findings = records
    .filter(({ purpose }) => purpose !== 'dmarc')
    .map((record) =>
      record.purpose.endsWith('-next')
        ? ofNext(domain, record)
        : ofRecord(domain, record, unsigned),
    )
  const { reportsTo } = settings
  return [
    ...findings,
    ...ofOld(deps, domain),
    await checkAlignment(deps.resolver, domain, records),
    ...(await checkAuthorisation(deps.resolver, domain.name, reportsTo)),
  ]
}

/** Names of checks are a contract with those who filter `doctor --json`. */
const checkNames: Readonly<Record<DnsRecord['purpose'], string>> = {
  'dkim-rsa': 'dkim',
  'dkim-ed25519': 'dkim',
  'dkim-rsa-next': 'dkim',
  'dkim-ed25519-next': 'dkim',
  'return-path-mx': 'return-path',
  'return-path-spf': 'spf',
  dmarc: 'dmarc',
  tracking: 'tracking',
  receiving: 'receiving',
}

const isKey = (purpose: DnsRecord['purpose']) =>
  purpose === 'dkim-rsa' || purpose === 'dkim-ed25519'

/** `unsigned`: none of the domain's keys can be found, so that nobody can verify its mail. */
function ofRecord(domain: Domain, record: RecordCheck, unsigned: boolean): Finding {
  const { purpose, type, host, state, found, required } = record
  const of = findingsOf(checkNames[purpose], domain.name)
  const what = `${type} of ${host}`
  if (state === 'ok') {
    if (isInUse(domain, record)) return of.ok(`${what} is right`)
    return of.warn(
      `${what} is right, but was not there when last looked at`,
      `posthorn domain verify ${domain.name}`,
    )
  }
  if (state === 'unknown') return of.lackingDns(what)
  const wrong = state === 'missing' ? `${what} is missing` : `${what} is ${found.join(' | ')}`
  // A domain that the operator trusts still sends, though unsigned; bounces go where the MX leads.
  const isFatal =
    (required && (!domain.trusted || unsigned)) ||
    (purpose === 'return-path-mx' && domain.returnPath)
  const judge = isFatal ? of.fail : of.warn
  const verb = state === 'missing' ? 'publish' : record.hasOthers ? 'keep only' : 'replace it by'
  return judge(wrong, `${verb} ${zoneLine(record)}`)
}

/** A future key: until its record is seen, mail is signed as before. */
function ofNext({ name, trusted }: Domain, record: RecordCheck): Finding {
  const of = findingsOf('dkim', name)
  const what = `keys are being replaced: ${record.type} of ${record.host}`
  if (record.state === 'unknown') return of.lackingDns(what)
  if (record.state === 'ok' && trusted) {
    // Nobody looks at the records of a domain that was verified by word alone.
    return of.warn(
      `${what} is there, and signs when you say so, as the domain is trusted`,
      `posthorn domain verify ${name}`,
    )
  }
  if (record.state === 'ok') return of.ok(`${what} is there, and signs within minutes`)
  return of.warn(`${what} is not there yet`, `publish ${zoneLine(record)}`)
}

/** Records of former keys, which may be removed. */
const ofOld = ({ clock }: DoctorDeps, domain: Domain): Finding[] =>
  oldRecords(domain, clock.now())
    .filter(({ mayGo }) => mayGo)
    .map(({ host }) =>
      findingsOf('dkim', domain.name).warn(
        `TXT of ${host} is of a key that signs no more, and may go`,
        `remove the TXT record of ${host}`,
      ),
    )

/** Whether the appliance too has seen the record, and so acts on it. */
function isInUse(domain: Domain, { purpose }: RecordCheck): boolean {
  if (purpose === 'return-path-mx' || purpose === 'return-path-spf') return domain.returnPath
  if (purpose === 'tracking') return domain.trackingHostReady
  if (purpose === 'receiving') return domain.receivingHostReady
  const algorithm = purpose === 'dkim-rsa' ? 'rsa-sha256' : 'ed25519-sha256'
  return domain.keys.some((key) => key.algorithm === algorithm && key.verified)
}

/**
 * SPF of the appliance's own return path and EHLO name, on which domains without a return path
 * rely.
 */
export async function checkOwnSpf(deps: DoctorDeps): Promise<Finding[]> {
  const { heloName, returnPathHost } = deps.config.outbound
  if (!heloName.includes('.')) return []
  const hosts = [...new Set([heloName, returnPathHost || heloName])]
  const all = await recordSettingsOf(deps.read, deps.config)
  return Promise.all(
    hosts.map(async (host): Promise<Finding> => {
      const of = findingsOf('spf', host)
      const answer = await deps.resolver.txt(host)
      if (answer.kind === 'failed') return of.noAnswer(answer.cause)
      const policies = recordsOf(answer).filter((text) => /^v=spf1(\s|$)/i.test(text))
      // Our own name belongs to one machine; the return path may belong to all nodes.
      const wanted = host === heloName ? ownMechanisms(all) : spfMechanisms(all)
      const terms = policies[0]?.toLowerCase().split(/\s+/) ?? []
      if (policies.length === 1 && wanted.every((term) => terms.includes(term.toLowerCase()))) {
        return of.ok('the appliance may send for it')
      }
      const found = policies.length === 0 ? 'no SPF record' : policies.join(' | ').slice(0, 300)
      const value = `v=spf1 ${wanted.join(' ')} -all`
      return of.warn(
        found,
        `${policies.length === 0 ? 'publish' : 'make it'} ${host}. 3600 IN TXT "${value}"`,
      )
    }),
  )
}
