import { shownCount } from '../amounts/index.js'
import { shapingFiles } from '../app/files.js'
import { openResolver } from '../app/resolver.js'
import * as operations from '../broadcasts/contract.js'
import { type Rehearsal, rehearse } from '../rehearsals/index.js'
import { answeringWith, type CommandDeps } from './answering.js'
import { chosenBroadcast } from './broadcast-show.js'
import type { CommandRow } from './command-row.js'
import { say, sayFields, sayTable, shownTime } from './output.js'
import { type CommandPlace, settingsOf } from './place.js'

const settled = (place: CommandPlace) => ({ settings: settingsOf(place) })

/** `broadcast rehearse`. */
export const rehearseBroadcastRows: readonly CommandRow[] = [
  {
    usage: 'rehearse <id>',
    does: operations.rehearseBroadcast,
    about: 'tell when a campaign would be done at each provider, and what would hold it up',
    help: `Example:
  $ posthorn broadcast rehearse 01a1fc92-9915-7533-8296-04ee3d91dd72

Its audience, with today's shaping, warm-up, learned limits and what waits already, runs through the code that sends
mail, in a clock of its own. Nothing is sent.`,
    run: answeringWith(settled, show),
  },
]

// As many sites as a terminal shows; all are in --json.
const mostShown = 20

async function show(
  { store, clock, place, settings }: CommandDeps & ReturnType<typeof settled>,
  id: string,
) {
  const { account_id } = await chosenBroadcast(store.read, id)
  const deps = {
    store,
    clock,
    outbound: settings.outbound,
    shapingFiles: () => shapingFiles(place.dataDir),
    openResolver: () => openResolver(settings.dns, clock),
  }
  const json = await rehearse(deps, account_id, id)
  return { json, say: () => sayRehearsal(json) }
}

const timeOf = (iso: string | null) =>
  iso === null ? 'not in 30 days' : shownTime(Date.parse(iso))

const testWords = ({ recipients, chosenAt }: NonNullable<Rehearsal['test']>) =>
  `${shownCount(recipients)} of them; the version for the others is chosen ${chosenAt === null ? 'by hand, and what is below is of the test' : `at about ${timeOf(chosenAt)}`}`

function sayRehearsal(of: Rehearsal): void {
  sayFields({
    Recipients: shownCount(of.recipientCount),
    Begins: timeOf(of.startsAt),
    ...(of.test !== null && { 'Its test': testWords(of.test) }),
    Done: timeOf(of.doneAt),
    'Held up by': of.heldUp === null ? 'nothing' : `${of.heldUp.site}: ${of.heldUp.says}`,
  })
  say()
  sayTable(
    ['SITE', 'RECIPIENTS', 'MOSTLY DONE', 'DONE', 'WAITS FOR'],
    of.sites
      .slice(0, mostShown)
      .map((one) => [
        one.site,
        shownCount(one.recipients),
        timeOf(one.mostlyDoneAt),
        timeOf(one.doneAt),
        one.says || '-',
      ]),
    '',
  )
  say()
  sayTable(
    ['IF IT BEGAN', 'FROM THE POOL', 'DONE'],
    of.alternatives.map(({ startsAt, pool, doneAt }) => [
      timeOf(startsAt),
      pool ?? 'the usual one',
      timeOf(doneAt),
    ]),
    '',
  )
}
