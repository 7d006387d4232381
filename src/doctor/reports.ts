import { pause } from '../clock/index.js'
import { ownListener, submitReport, writeComplaint } from '../simulator/index.js'
import { type DoctorDeps, type Finding, findingsOf } from './finding.js'
import { bounceTo, probes } from './return-path.js'

/**
 * Sends the appliance a bounce and a complaint about a mail that never was, by SMTP to its own
 * listener, and waits until they have been read. They find no delivery, so nothing follows.
 */
export async function checkReports(deps: DoctorDeps): Promise<Finding[]> {
  const { enabled } = deps.config.inbound
  if (!enabled) {
    const of = findingsOf('report', 'any')
    return [
      of.fail('nobody listens: late bounces and complaints are lost', 'set inbound.enabled = true'),
    ]
  }
  const { heloName, returnPathHost } = deps.config.outbound
  const host = returnPathHost || heloName
  const { signed } = probes(deps, host)
  const bounce = bounceTo(deps, signed)
  const feedback = `feedback@${heloName}`
  const complaint = {
    ...bounce,
    to: feedback,
    raw: writeComplaint({
      mailFrom: signed,
      recipient: `posthorn-doctor@${heloName}`,
      header: Buffer.from('Subject: Test of the way back, by posthorn doctor\r\n'),
      reporter: heloName,
      at: deps.clock.now(),
      feedback,
    }),
  }
  return Promise.all([
    checkReport(deps, 'a bounce', bounce),
    checkReport(deps, 'a complaint', complaint),
  ])
}

/**
 * A real report goes the real way, by SMTP to the listener, and is looked for afterwards, as an
 * answering port does not show that reports are read.
 */
async function checkReport(
  deps: DoctorDeps,
  what: string,
  report: Parameters<typeof submitReport>[1],
): Promise<Finding> {
  const of = findingsOf('report', what)
  const { inbound } = deps.config
  const { clock } = deps
  const beganAt = clock.now()
  const target = ownListener(inbound.host, inbound.port)
  const { kind, words } = await submitReport(target, report)
  const where = `${target.host} port ${target.port}`
  if (kind === 'unreachable') {
    return of.fail(`${where}: ${words}`, "start the appliance ('systemctl start posthorn')")
  }
  if (kind === 'refused') {
    return of.fail(
      `refused at ${where}: ${words}`,
      'find out which program has this port: ss -ltnp; it is not this appliance',
    )
  }
  if (await isRead(deps, report.to, beganAt)) {
    return of.ok(`taken and read in ${clock.now() - beganAt} ms`)
  }
  return of.fail(
    'taken but not read',
    "look for the inbound thread in the log: 'journalctl -u posthorn'",
  )
}

const pollMs = 50

/** Whether the reports received so far for an address are read before the time is up. */
async function isRead({ read, clock, config }: DoctorDeps, to: string, since: number) {
  const waiting = read
    .selectFrom('inbound_spool')
    .select((eb) => eb.fn.max('id').as('id'))
    .where('received_at', '>=', since)
    .where('recipients', '=', JSON.stringify([to]))
  const { id: last } = await waiting.executeTakeFirstOrThrow()
  if (last === null) return true
  while (clock.now() - since < config.doctor.timeout) {
    await pause(clock, pollMs)
    const left = await waiting.where('id', '<=', last).executeTakeFirstOrThrow()
    if (left.id === null) return true
  }
  return false
}
