import { makeReturnPaths } from '../deliveries/index.js'
import { canonicalName, routeToMx } from '../dns/index.js'
import { returnPathHost } from '../domains/index.js'
import { submitReport, writeBounce } from '../simulator/index.js'
import { nobodysSerial } from '../store/index.js'
import { allDomains } from './domain-records.js'
import { type DoctorDeps, type Finding, findingsOf } from './finding.js'

/** Whether bounces find their way: the MX of every return path leads to this appliance's listener. */
export async function checkReturnPaths(deps: DoctorDeps): Promise<Finding[]> {
  const { heloName, returnPathHost: ownHost } = deps.config.outbound
  const domains = await allDomains(deps.read)
  const used = domains.filter((domain) => domain.returnPath).map(({ name }) => returnPathHost(name))
  // An unknown name is a finding of its own.
  const own = ownHost || (heloName.includes('.') ? heloName : '')
  const hosts = [...new Set([own, ...used])].filter((host) => host !== '')
  const found = await Promise.all(hosts.map((host) => checkReach(deps, host, host === own)))
  return found.filter((finding) => finding !== undefined)
}

/** Undefined if a domain's MX leads elsewhere, which is told with the domain's other records. */
async function checkReach(
  deps: DoctorDeps,
  host: string,
  isOwn: boolean,
): Promise<Finding | undefined> {
  const { resolver, random, config } = deps
  const { heloName, port } = config.outbound
  const of = findingsOf('listener', host)
  const publish = `publish ${host}. 3600 IN MX 10 ${heloName}.`
  // The way back to ourselves may well be a private one.
  const route = await routeToMx(resolver, host, { random, allowPrivate: true })
  const hosts = route.kind === 'hosts' ? route.hosts : []
  // Of several nodes, whose MXs are equal, each looks at its own.
  const mx = hosts.find(({ exchange }) => exchange === canonicalName(heloName)) ?? hosts[0]
  if (route.kind === 'failed') return of.noAnswer(route.cause)
  if (!isOwn && mx?.exchange !== canonicalName(heloName)) return undefined
  const [address] = mx?.addresses ?? []
  if (mx === undefined || address === undefined)
    return of.fail('bounces have nowhere to go', publish)
  const who = `${mx.exchange} [${address}]`
  const submit = (to: string) => submitReport({ host: address, port }, bounceTo(deps, to))

  const { forged, signed } = probes(deps, host)
  const guess = await submit(forged)
  if (guess.kind === 'unreachable') {
    return of.fail(
      `${who}: ${guess.words}`,
      `open inbound TCP port ${port} and let the appliance run; if this machine cannot reach its own public address, see from elsewhere: nc -v ${address} ${port}`,
    )
  }
  const other = `is another server's: ${publish}`
  if (guess.kind === 'accepted') return of.fail(`${who} takes any address`, `this MX ${other}`)
  const taken = await submit(signed)
  if (taken.kind === 'accepted') return of.ok(`${who} is this appliance`)
  return of.fail(`${who} refuses our return path: ${taken.words}`, `this MX ${other}`)
}

/**
 * A return path that only we can have signed, for no delivery; and one that is signed for another host.
 */
export function probes({ key, clock }: DoctorDeps, host: string) {
  const returnPaths = makeReturnPaths(key)
  const nobody = nobodysSerial(clock.now())
  const elsewhere = returnPaths.addressOf(nobody, `not.${host}`)
  return {
    signed: returnPaths.addressOf(nobody, host),
    forged: `${elsewhere.slice(0, elsewhere.lastIndexOf('@'))}@${host}`,
  }
}

/** A bounce of a mail that never was: whoever reads it finds no delivery, and does nothing. */
export function bounceTo({ config, clock }: DoctorDeps, to: string) {
  const { heloName } = config.outbound
  return {
    to,
    heloName,
    stepMs: config.doctor.timeout,
    raw: writeBounce({
      mailFrom: to,
      recipient: `posthorn-doctor@${heloName}`,
      header: Buffer.from(`Subject: Test of the way back, by posthorn doctor\r\n`),
      reporter: heloName,
      at: clock.now(),
    }),
  }
}
