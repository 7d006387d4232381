import type { Command } from 'commander'
import { counted } from '../amounts/index.js'
import { openResolver } from '../app/resolver.js'
import {
  type DmarcSummary,
  keptDays,
  makeNameSources,
  ownAddresses,
  readDmarc,
} from '../dmarc/index.js'
import { findDomain, verifiedDomains } from '../domains/index.js'
import { accountOption, chosenAccount, withStore } from './database.js'
import { unknownDomain } from './domain-records.js'
import { withHints } from './limits.js'
import { wholeNumber } from './option-values.js'
import { say, sayFields, sayJson, sayTable, sayText } from './output.js'
import { placeOf, settingsOf } from './place.js'

/**
 * `posthorn dmarc`: what receivers say of mail in a domain's name; of all verified domains when
 * none is named.
 */
export function dmarcCommand(program: Command): void {
  program
    .command('dmarc [domain]')
    .description('what receivers report of mail in the name of a domain, by source')
    .addOption(accountOption())
    .option('--days <count>', 'so many days up to today', wholeNumber(1, keptDays), 30)
    .addHelpText(
      'after',
      `
Examples:
  $ posthorn dmarc
  $ posthorn dmarc example.com --days 7

The reports come to dmarc@ this host (outbound.helo_name), where the DMARC record of a domain says so:
rua=mailto:dmarc@... as 'posthorn domain show' has it. PASSED is mail whose DKIM or SPF aligns with the From.
UNSIGNED counts what stands in reports that no receiver has signed: anybody may have written those.`,
    )
    .action(async (named: string | undefined, options: Options, command: Command) => {
      const place = placeOf(command)
      const settings = settingsOf(place)
      const found = await withStore(place, async ({ store, clock }) => {
        const { read } = store
        const { id: accountId } = await chosenAccount(read, options.account)
        const names = named === undefined ? await verifiedDomains(read, accountId) : [named]
        const resolver = openResolver(settings.dns, clock)
        const nameSources = makeNameSources({ store, clock, resolver })
        const own = await ownAddresses(settings.outbound, resolver)
        const summaries: Shown[] = []
        for (const name of names) {
          const domain = await withHints(unknownDomain, () => findDomain(read, accountId, name))
          const asked = { domain, days: options.days, ownAddresses: own, nameSources }
          summaries.push({ domain: domain.name, ...(await readDmarc({ read, clock }, asked)) })
        }
        return summaries
      })
      if (place.json) return sayJson(found)
      if (found.length === 0) say('There is no verified domain')
      for (const summary of found) show(summary)
    })
}

/** Options of `posthorn dmarc`. */
interface Options {
  account?: string
  days: number
}

/** The reports of some days about one domain. */
type Shown = DmarcSummary & { domain: string }

/**
 * Figures of signed reports alone count as proved: anybody can mail a report, and an unsigned one
 * may be invented to look like trouble or like its absence.
 */
function show({ domain, sources, reporters, tls, ...summary }: Shown): void {
  const { reports, messages, passed, policy } = summary
  if (reports === 0 && tls.reports === 0) {
    say(`No report about ${domain} has come in these days.`)
    return
  }
  sayFields({
    Domain: domain,
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
