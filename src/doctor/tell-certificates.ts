import { X509Certificate } from 'node:crypto'
import { counted } from '../amounts/index.js'
import { listCertificates, urgencyOf } from '../certificates/index.js'
import { type Clock, dayMs, utcTime } from '../clock/index.js'
import { certificatePaths, listenOf, nameBesideOthers } from '../config/index.js'
import { messageOf } from '../errors/index.js'
import { holds } from '../nodes/index.js'
import { isOfNode, notice, noticesOf, type Raised, settleOthers } from '../notices/index.js'
import { ownListener } from '../simulator/index.js'
import { connectSmtp } from '../smtp/index.js'
import { readCertificate } from '../smtpd/index.js'
import type { Store } from '../store/index.js'
import { certificateOf, scaleOf } from './certificates.js'
import type { DoctorDeps } from './finding.js'
import { addressesOf } from './source-addresses.js'

type Deps = Pick<DoctorDeps, 'config' | 'resolver' | 'ca' | 'dataDir'> & { clock: Clock }

/** A certificate that others meet, and when it ends. */
interface Met {
  /** Where: `inbound listener`, a host. */
  where: string
  /** Nobody answered there just now: what was told before stays open. */
  isSilent?: true
  validFrom?: number
  validTo?: number
  /** Its fault beside its age. */
  fault?: string
  fix: readonly string[]
}

/**
 * Checks when certificates end, those in files and those that the listeners and the public URL present. Tells the
 * operator in time (`operator.certificate_ends`), at each step again. Each node checks its own listeners; the node with
 * the calendar checks the public URL and what ACME fails to get.
 */
export async function tellCertificates(
  deps: Deps & { store: Store },
): Promise<{ looked: number; told: number; soonestDays: number | undefined }> {
  const { store, clock, config } = deps
  const looksForAll = holds(store.node, 'calendar')
  const ownNotices = noticesOf(nameBesideOthers(config))
  const own = await ownListeners(deps)
  const shared = looksForAll ? await publicUrl(deps) : []
  const met = [...own, ...shared]
  const now = clock.now()
  const says = (one: Met) => wordsOf(one, config.operator.certificateEnds, now)
  const ofNode = own
    .flatMap(says)
    .map((one) => ({ ...one, key: ownNotices.key(one.key), text: ownNotices.text(one.text) }))
  const raised = [
    ...ofNode,
    ...shared.flatMap(says),
    ...(looksForAll ? await renewals(deps, now) : []),
  ]
  await store.write(async (tx) => {
    for (const one of raised) await notice(tx, { ...one, now })
    const silent = (of: readonly Met[]) =>
      of.filter(({ isSilent }) => isSilent === true).map(({ where }) => where)
    const still = [
      ...raised.map(({ key }) => key),
      ...silent(own).map(ownNotices.key),
      ...silent(shared),
    ]
    const isLookedAt = (key: string) => (isOfNode(key) ? ownNotices.isOwn(key) : looksForAll)
    await settleOthers(tx, { kind: 'certificate', still, now, isLookedAt })
  })
  const days = met.flatMap(({ validTo }) =>
    validTo === undefined ? [] : [Math.floor((validTo - now) / dayMs)],
  )
  const soonestDays = days.length === 0 ? undefined : Math.min(...days)
  return {
    looked: met.filter(({ isSilent }) => isSilent !== true).length,
    told: raised.length,
    soonestDays,
  }
}

/** What ACME fails to get, told by how long the present certificate lasts. */
async function renewals(deps: Deps & { store: Store }, now: number): Promise<Raised[]> {
  const { config, dataDir, store } = deps
  const all = await listCertificates({ read: store.read, config, dataDir })
  return all.flatMap((one) => {
    const severity = urgencyOf(one, now)
    if (severity === undefined) return []
    const { name, endsAt, error, fix } = one
    const left =
      endsAt === null
        ? 'There is none yet'
        : `The one that is there ${endsAt <= now ? 'ended' : 'ends'} at ${utcTime(endsAt)}`
    return [
      {
        kind: 'certificate',
        key: `ACME ${name}`,
        severity,
        stage: severity,
        text: [`ACME gets no certificate for ${name}`, error ?? 'it was not tried', left],
        fix: [...(fix === null ? [] : [fix]), 'posthorn certificate list'],
      } as const,
    ]
  })
}

/** One notice a certificate, in stages: it is told again nearer to the end. */
function wordsOf(
  { where, validFrom, validTo, fault, fix }: Met,
  ends: readonly number[],
  now: number,
): Raised[] {
  const of = { kind: 'certificate', key: where, fix } as const
  if (fault !== undefined) {
    return [
      {
        ...of,
        severity: 'burning',
        stage: 'fault',
        text: [`The certificate of ${where}: ${fault}`],
      },
    ]
  }
  if (validTo === undefined) return []
  const leftMs = validTo - now
  const scale = scaleOf(validFrom, validTo)
  const passed = ends.filter((before) => leftMs <= before * scale).sort((a, b) => a - b)
  const [step] = passed
  if (step === undefined) return []
  const last = Math.min(...ends)
  const days = Math.floor(leftMs / dayMs)
  const when =
    leftMs <= 0 ? 'has ended' : days === 0 ? 'ends within a day' : `ends in ${counted(days, 'day')}`
  return [
    {
      ...of,
      severity: step === last ? 'burning' : 'daily',
      stage: `${step}`,
      text: [`The certificate of ${where} ${when}`, `Its last moment: ${utcTime(validTo)}`],
    },
  ]
}

/**
 * Compares the files with what is served, since a renewed file does not help before somebody loads
 * it.
 */
async function ownListeners(deps: Deps): Promise<Met[]> {
  const { inbound, submission } = deps.config
  const met: Met[] = []
  if (inbound.enabled && inbound.tls.certificate !== '') {
    const at = ownListener(inbound.host, inbound.port)
    met.push(...(await listener(deps, 'the inbound listener', inbound.tls, at)))
  }
  const files = certificatePaths(submission, inbound.tls)
  if (submission.enabled && files.certificate !== '') {
    const place = listenOf(submission.starttls)
    const at = place && ownListener(place.host, place.port)
    met.push(...(await listener(deps, 'the submission listener', files, at)))
  }
  return met
}

/** Reads a listener's files and what it presents: they differ if a new file was not loaded. */
async function listener(
  deps: Deps,
  where: string,
  files: { certificate: string; key: string },
  at: { host: string; port: number } | undefined,
): Promise<Met[]> {
  const renew = [`renew ${files.certificate} ('certbot renew'); Posthorn reads it within a minute`]
  let own: X509Certificate
  try {
    own = new X509Certificate(readCertificate(files)?.cert ?? '')
  } catch (error) {
    return [{ where, fault: messageOf(error), fix: renew }]
  }
  const met: Met = {
    where,
    fix: renew,
    validFrom: Date.parse(own.validFrom),
    validTo: Date.parse(own.validTo),
  }
  // Port 0 is any, which nobody here knows.
  if (at === undefined || at.port === 0) return [met]
  const shown = await presented(deps, at)
  if (shown === undefined) return [met, { where, fix: renew, isSilent: true }]
  if (shown.fingerprint256 === own.fingerprint256) return [met]
  const fault = `it still presents another than the one in ${files.certificate}`
  return [{ ...met, fault, fix: ['sudo systemctl reload posthorn'] }]
}

/** Read by STARTTLS; undefined if nobody answers, which other checks tell. */
async function presented(
  { config }: Deps,
  at: { host: string; port: number },
): Promise<X509Certificate | undefined> {
  let shown: X509Certificate | undefined
  const stepMs = config.doctor.timeout
  const deadlines = { connectMs: stepMs, bannerMs: stepMs, ehloMs: stepMs, startTlsMs: stepMs }
  const judge = (chain: readonly X509Certificate[]) => {
    shown = chain[0]
    return undefined
  }
  const { heloName } = config.outbound
  const tls = { mode: 'opportunistic', judge } as const
  const opened = await connectSmtp({ ...at, heloName, tls, deadlines })
  if (opened.kind === 'ready') opened.connection.quit()
  return shown
}

/** From outside, as recipients see it; the certificate may be a proxy's. */
async function publicUrl(deps: Deps): Promise<Met[]> {
  const { url } = deps.config.http.public
  if (!url.startsWith('https:')) return []
  const { hostname, port } = new URL(url)
  const { addresses } = await addressesOf(deps.resolver, hostname.replace(/^\[|\]$/g, ''))
  const [host] = addresses
  // An unreachable URL is a finding of the doctor's, and says nothing about a certificate.
  const silent = [{ where: hostname, fix: [], isSilent: true }] as const
  if (host === undefined) return [...silent]
  const seen = await certificateOf(deps, { host, port: Number(port || 443), servername: hostname })
  if ('failure' in seen) return [...silent]
  const isOurs = deps.config.http.public.tls.enabled
  const fix = isOurs
    ? ['posthorn certificate', 'posthorn doctor']
    : ["renew it at the TLS proxy ('caddy reload', 'certbot renew')", 'posthorn doctor']
  const { validFrom, validTo, fault } = seen
  const isOver = validTo <= deps.clock.now()
  return [
    {
      where: hostname,
      validFrom,
      validTo,
      fix,
      ...(fault === undefined || isOver ? {} : { fault }),
    },
  ]
}
