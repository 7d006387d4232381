import { X509Certificate } from 'node:crypto'
import type { Command } from 'commander'
import { counted } from '../amounts/index.js'
import { certificateFiles } from '../app/certificates.js'
import {
  accountRow,
  askForRenewal,
  type CertificateStanding,
  listCertificates,
} from '../certificates/index.js'
import type { Config } from '../config/index.js'
import { messageOf, OperatorError } from '../errors/index.js'
import { readCertificate } from '../smtpd/index.js'
import { askAppliance } from './ask.js'
import { addCommands, type CommandRow } from './command-row.js'
import { withStore } from './database.js'
import { jsonTime, remark, say, sayFields, sayJson, sayTable, shownTime } from './output.js'
import { type CommandPlace, placeOf, settingsOf } from './place.js'

/** `posthorn certificate`: what the listeners offer, and how ACME stands. */
export function certificateCommands(program: Command): void {
  const certificate = program
    .command('certificate')
    .description('certificates of the listeners: from files, and by ACME ([tls] of the settings)')
  addCommands(certificate, rows)
}

const rows: readonly CommandRow[] = [
  {
    usage: 'list',
    isDefault: true,
    about: 'show all certificates; status 1 when one has ended or is missing',
    help: `Example:
  $ posthorn certificate list --json | jq '.certificates[] | select(.error) | .name'`,
    run: runList,
  },
  {
    usage: 'show <name>',
    about: 'show how the certificate of a name stands with ACME, and how to fix it',
    help: 'Example:\n  $ posthorn certificate show mail.example.com',
    run: runShow,
  },
  {
    usage: 'renew <name>',
    about: 'order a new certificate of a name now, in the running appliance',
    help: `Example:
  $ posthorn certificate renew mail.example.com

Directories count orders: Let's Encrypt takes five a week of the same name.`,
    run: runRenew,
  },
]

/**
 * Certificates from files and from ACME in one table: an operator asks which one ends next, not
 * where it came from. Status 1 lets cron notice.
 */
async function runList(_options: unknown, command: Command): Promise<void> {
  const place = placeOf(command)
  const config = settingsOf(place)
  // They include the names for which ACME has no certificate yet.
  const byAcme = await standings(place, config)
  const account = await accountOf(place, config)
  const fromFiles = filesOf(config)
  const now = Date.now()
  const isGone = (endsAt: number | null) => endsAt === null || endsAt <= now
  if ([...byAcme, ...fromFiles].some(({ endsAt }) => isGone(endsAt))) process.exitCode = 1
  if (place.json) {
    const certificates = [...fromFiles.map(fileInJson), ...byAcme.map(standingInJson)]
    return sayJson({ acme: config.tls.acme, account, certificates })
  }
  sayTable(
    ['NAME', 'SOURCE', 'ENDS', 'NEXT TRY', 'WHAT IS WRONG'],
    [
      ...fromFiles.map((one) => [one.name, one.file, shownTime(one.endsAt), '-', one.error ?? '-']),
      ...byAcme.map((one) => [
        one.name,
        'ACME',
        shownTime(one.endsAt),
        shownTime(one.next_at || null),
        one.error ?? '-',
      ]),
    ],
    'No listener has a certificate: [tls] of the settings gets them by ACME, or names files',
  )
  if (account !== null) remark(`Our account at ${account.directory}: ${accountWords(account)}`)
}

/** One name, with what is wrong and the way to mend it. */
async function runShow(name: string, _options: unknown, command: Command): Promise<void> {
  const place = placeOf(command)
  const config = settingsOf(place)
  const found = named(name, config, await standings(place, config))
  if (place.json) return sayJson(standingInJson(found))
  sayFields({
    Name: found.name,
    'Wanted for': found.domain === undefined ? 'this machine' : `links of ${found.domain}`,
    Ends: shownTime(found.endsAt),
    Renewed: shownTime(found.renew_at),
    'Next try': shownTime(found.next_at || null),
    Directory: config.tls.directory,
    'Our account there': accountWords(await accountOf(place, config)),
  })
  if (found.error === null) return
  say()
  sayFields({
    'What is wrong': found.error,
    Since: `${shownTime(found.failed_since)}, ${counted(found.failures, 'failure')}`,
    'How to fix it': found.fix ?? '-',
  })
}

/**
 * Only the running appliance orders, because it alone can answer the challenge on port 80 (RFC 8555
 * §8.3). The command leaves a mark in the database and waits for the job.
 */
async function runRenew(name: string, _options: unknown, command: Command): Promise<void> {
  const place = placeOf(command)
  const config = settingsOf(place)
  const { dataDir } = place
  const before = named(name, config, await standings(place, config))
  await withStore(place, (deps) => askForRenewal({ ...deps, config, dataDir }, before.name))
  if (!place.json) remark(`Asking ${config.tls.directory} for ${before.name}`)
  // Without a time limit: a directory may need minutes.
  const answer = await askAppliance(place, { runJob: 'certificates', wait: true }, 0)
  if (answer?.job === undefined) {
    throw new OperatorError(
      `No appliance answers for ${dataDir}. It orders the certificate when it is started`,
    )
  }
  const after = named(name, config, await standings(place, config))
  // Judged by its beginning: a certificate that is renewed early may end on the same day as before.
  const isNew = after.endsAt !== null && after.beganAt !== before.beganAt
  if (!isNew && after.error !== null) process.exitCode = 1
  if (place.json) return sayJson(standingInJson(after))
  if (isNew) return say(`${after.name} has a new certificate until ${shownTime(after.endsAt)}`)
  say(`${after.name} has no new certificate yet: ${after.error ?? 'the order is under way'}`)
  if (after.fix !== null) say(`How to fix it: ${after.fix}`)
}

/** All names that ACME gets certificates for. */
const standings = (place: CommandPlace, config: Config): Promise<CertificateStanding[]> =>
  withStore(place, ({ store }) =>
    listCertificates({ read: store.read, config, dataDir: place.dataDir }),
  )

/** Our account at the settings' directory, whose operators know the account by its address. */
const accountOf = (place: CommandPlace, { tls }: Config) =>
  tls.acme
    ? withStore(place, async ({ store }) => {
        const row = await accountRow(store.read, tls.directory)
        return { directory: tls.directory, url: row?.url ?? null, email: row?.email || null }
      })
    : null

const accountWords = (account: { url: string | null; email: string | null } | null) =>
  account?.url == null
    ? 'none yet'
    : `${account.url}${account.email === null ? '' : `, which writes to ${account.email}`}`

/** Names are compared in lower case: host names have no case (RFC 4343 §2). */
function named(
  given: string,
  { tls }: Config,
  all: readonly CertificateStanding[],
): CertificateStanding {
  if (!tls.acme) {
    throw new OperatorError('tls.acme is not set: the certificates are files, which others renew')
  }
  const found = all.find(({ name }) => name === given.toLowerCase())
  if (found !== undefined) return found
  const names = all.map(({ name }) => name).slice(0, 20)
  throw new OperatorError(
    `${given} is not a name that ACME gets a certificate for; there are: ${names.join(', ') || 'none'}. tls.names adds one`,
  )
}

/** A certificate in a file, which somebody else renews. */
interface FileStanding {
  name: string
  file: string
  endsAt: number | null
  error: string | null
}

/** The listeners' certificates in files, named by the listener. */
const filesOf = (config: Config): FileStanding[] =>
  certificateFiles(config).map(({ of, ...files }) => {
    const one = { name: `${of} listener`, file: files.certificate }
    try {
      const leaf = new X509Certificate(readCertificate(files)?.cert ?? '')
      return { ...one, endsAt: Date.parse(leaf.validTo), error: null }
    } catch (error) {
      return { ...one, endsAt: null, error: messageOf(error) }
    }
  })

/** A certificate from a file, for scripts. */
const fileInJson = ({ endsAt, ...one }: FileStanding) => ({
  source: 'file',
  ...one,
  endsAt: jsonTime(endsAt),
})

/** `next_at` is 0 before the first try, which stands for no time. */
const standingInJson = (one: CertificateStanding) => ({
  source: 'acme',
  name: one.name,
  domain: one.domain ?? null,
  endsAt: jsonTime(one.endsAt),
  renewAt: jsonTime(one.renew_at),
  nextAt: jsonTime(one.next_at || null),
  failures: one.failures,
  failedSince: jsonTime(one.failed_since),
  error: one.error,
  fix: one.fix,
})
