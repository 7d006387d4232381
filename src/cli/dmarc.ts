import type { Command } from 'commander'
import { counted } from '../amounts/index.js'
import { openResolver } from '../app/resolver.js'
import type { Config } from '../config/index.js'
import { getDomainDmarc, windowFields } from '../dmarc/contract.js'
import { dmarcAnswer } from '../dmarc/index.js'
import { findDomain, verifiedDomains } from '../domains/index.js'
import { answeringWith, type CommandDeps } from './answering.js'
import { addCommands, type CommandRow } from './command-row.js'
import { accountOption } from './database.js'
import { unknownDomain } from './domain-records.js'
import { fieldOptions } from './field-options.js'
import { withHints } from './limits.js'
import { say, sayFields, sayTable, sayText } from './output.js'
import { settingsOf } from './place.js'

/**
 * `posthorn dmarc`: what receivers say of mail in a domain's name, or of all verified domains when
 * none is named.
 */
export const dmarcCommand = (program: Command) => addCommands(program, rows)

const rows: readonly CommandRow[] = [
  {
    usage: 'dmarc [domain]',
    does: getDomainDmarc,
    about: 'what receivers report of mail in the name of a domain, by source',
    options: [accountOption(), ...fieldOptions(windowFields)],
    help: `Examples:
  $ posthorn dmarc
  $ posthorn dmarc example.com --days 7

The reports come to dmarc@ this host (outbound.helo_name), where the DMARC record of a domain says so:
rua=mailto:dmarc@... as 'posthorn domain show' has it. PASSED is mail whose DKIM or SPF aligns with the From.
UNSIGNED counts what stands in reports that no receiver has signed: anybody may have written those.
Without a domain --json is a list, an answer a domain.`,
    run: answeringWith((place) => ({ settings: settingsOf(place) }), dmarc),
  },
]

type Settled = CommandDeps & { settings: Config }
type DmarcAnswer = Awaited<ReturnType<typeof dmarcAnswer>>

async function dmarc(deps: Settled, named: string | undefined, options: { days?: number }) {
  const { store, clock, settings } = deps
  const { id: accountId } = await deps.account()
  const names = named === undefined ? await verifiedDomains(store.read, accountId) : [named]
  const resolver = openResolver(settings.dns, clock)
  const asking = { store, clock, outbound: settings.outbound, resolver }
  const answers: DmarcAnswer[] = []
  for (const name of names) {
    const domain = await withHints(unknownDomain, () => findDomain(store.read, accountId, name))
    answers.push(await dmarcAnswer(asking, { domain, ...options }))
  }
  return {
    json: named === undefined ? answers : answers[0],
    say() {
      if (answers.length === 0) say('There is no verified domain')
      for (const one of answers) show(one)
    },
  }
}

/**
 * Figures of signed reports alone count as proved: anybody can mail a report, and an unsigned one
 * may be invented to look like trouble or like its absence.
 */
function show({ name, sources, reporters, tls, ...summary }: DmarcAnswer): void {
  const { reports, messages, passed, policy } = summary
  if (reports === 0 && tls.reports === 0) {
    say(`No report about ${name} has come in these days.`)
    return
  }
  sayFields({
    Domain: name,
    Policy: policy === '' ? 'no signed report has told it' : `p=${policy}`,
    Reports: `${reports}, of ${counted(messages, 'message')}; ${passed} passed`,
    From: reporters.map(({ name, proof }) => (proof ? name : `${name} (unsigned)`)).join(', '),
    ...(tls.reports > 0 && {
      TLS: `${counted(tls.reports, 'report')}: ${counted(tls.successes, 'session')} well, ${tls.failures} failed`,
    }),
  })
  say()
  sayTable(
    ['SOURCE', 'NAME', 'WHOSE', 'MESSAGES', 'PASSED', 'DKIM', 'SPF', 'UNSIGNED'],
    sources.map((source) => [
      source.address || '(others)',
      source.name || '-',
      source.kind,
      ...[source.messages, source.passed, source.dkimPassed, source.spfPassed].map(String),
      String(source.unproven),
    ]),
    'Nothing was reported',
  )
  for (const { address, advice } of sources.filter((source) => source.advice !== '')) {
    sayText(`${address || '(others)'}: ${advice}`)
  }
  say()
}
