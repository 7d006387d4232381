import { object, string } from 'superstruct'
import {
  changeWaiting,
  checkedReason,
  listWaiting,
  lookForWaiting,
  mostLookedAt,
  type QueueChangeName,
  type QueueFilter,
  queueChanges,
  usualReason,
} from '../../deliveries/index.js'
import { ApiError } from '../../errors/index.js'
import { type PageAnswer, page, redirect } from '../shell/answer.js'
import { type CommandLine, command } from '../shell/command-line.js'
import { type Faults, noFaults } from '../shell/faults.js'
import { linkTo } from '../shell/listing.js'
import type { OperatorPages } from '../shell/page.js'
import type { OperatorVisit } from '../shell/visit.js'
import type { OperatorPageDeps } from './deps.js'
import { changeTitles, countOf } from './queue.js'
import { choiceIn, filterOf, isChosen, optionsOf, type QueueChoice } from './queue-filter.js'

/** All are texts, as the form sends them: the choice, what was counted, and the reason. */
const Change = object({
  domain: string(),
  account: string(),
  class: string(),
  campaign: string(),
  email: string(),
  older: string(),
  held: string(),
  id: string(),
  count: string(),
  upTo: string(),
  reason: string(),
})

/** What the page says before. */
const words: Record<QueueChangeName, { does: string; button: string }> = {
  retry: {
    does: 'They are tried at once instead of at their next time. What was never tried keeps its time. At a suspended site one message tries it, and the others follow if it gets through.',
    button: 'Try them now',
  },
  hold: {
    does: 'They wait until somebody releases them. Mail that is accepted later is not held.',
    button: 'Hold them',
  },
  release: {
    does: 'They leave as mail, which cannot be taken back. What a surge holds stays: a decision about the surge lets it go.',
    button: 'Release them',
  },
  fail: {
    does: 'They are never sent, and their senders are told so. This cannot be undone.',
    button: 'End them as failed',
  },
}

/** Changes all deliveries that fit a choice: first it shows how many they are, then it changes no more than these. */
export function queueChangePages(pages: OperatorPages, deps: OperatorPageDeps): void {
  for (const name of ['retry', 'hold', 'release', 'fail'] as const) {
    const path = `/queue/change/${name}`
    pages.get(path, 'operator.read', ({ query, now }) =>
      askPage(deps, name, { get: (field) => query.get(field), now }, noFaults),
    )
    const again = ({ fields, now }: OperatorVisit, faults: Faults) =>
      askPage(deps, name, { get: (field) => fields.get(field), now }, faults)
    pages.post(
      path,
      // `sudo`: a release cannot be taken back, and an open browser is enough to find the button.
      { action: 'operator.write', form: Change, sudo: true, again },
      async ({ form, now }) => applied(deps, name, form, now),
    )
  }
}

/** The source of the choice: the address of a GET, or the form that was sent. */
interface Asked {
  get: (name: string) => string | null | undefined
  now: number
}

/** Which deliveries are meant: those of a choice, or one by its number. */
async function meant({ store }: OperatorPageDeps, name: QueueChangeName, { get, now }: Asked) {
  const id = get('id')?.trim() ?? ''
  const choice = choiceIn(get)
  if (id !== '' && !/^\d{1,16}$/.test(id))
    throw new ApiError('not_found', 'There is no delivery with this number')
  const filter: QueueFilter =
    id === '' ? await filterOf(store.read, choice, now) : { ids: [Number(id)] }
  // `only`: a release, for example, means only held deliveries.
  return { id, choice, filter: { ...filter, ...queueChanges[name].only } }
}

// How many examples are shown, so that a wrong choice is seen before the change.
const shownOfThem = 10

/**
 * Says how many are meant, and asks. The form carries `count` and `upTo`, so that mail accepted meanwhile is not
 * changed.
 */
async function askPage(
  deps: OperatorPageDeps,
  name: QueueChangeName,
  asked: Asked,
  faults: Faults,
): Promise<PageAnswer> {
  const { store } = deps
  const { id, choice, filter } = await meant(deps, name, asked)
  const { ids, isCut } = await lookForWaiting(store.read, filter)
  const some = await listWaiting(store.read, { ids: ids.slice(0, shownOfThem) }, shownOfThem)
  const { does, button } = words[name]
  const { reason } = queueChanges[name]
  const view = {
    name,
    title: changeTitles[name],
    does,
    button,
    faults,
    id,
    isCut,
    choice: { ...choice },
    count: ids.length,
    counted: countOf(ids.length, isCut),
    upTo: String(ids.at(-1) ?? 0),
    all: id === '' && !isChosen(choice),
    mostLookedAt: mostLookedAt.toLocaleString('en-GB'),
    some: some.map(({ recipient, acceptedAt, attempts }) => ({ recipient, acceptedAt, attempts })),
    now: asked.now,
    asksReason: reason !== 'none',
    usualReason: reason === 'usual' ? usualReason : '',
    back: id === '' ? linkTo('/operator/queue', choice) : `/operator/queue/${id}`,
    command: commandOf(name, id, choice),
  }
  return page('operator/queue-change', view, { title: `${changeTitles[name]} deliveries` })
}

/** The command that does the same; a change that the page confirms first is shown with `--dry-run`. */
function commandOf(name: QueueChangeName, id: string, choice: QueueChoice): CommandLine {
  const all = !isChosen({ ...choice, held: '' })
  const meant = id === '' ? { ...optionsOf(choice), all } : { of: [id] }
  return name === 'retry'
    ? command('queue retry', meant)
    : command(`queue ${name}`, { ...meant, dryRun: true })
}

/** Changes those of the counted deliveries that still fit: no later ones, and no more. */
async function applied(
  deps: OperatorPageDeps,
  name: QueueChangeName,
  form: Record<string, string>,
  now: number,
): Promise<PageAnswer> {
  const { id, choice, filter } = await meant(deps, name, { get: (field) => form[field], now })
  const reason = reasonIn(name, form.reason ?? '')
  const most = Number(form.count)
  const upTo = Number(form.upTo)
  // Searched anew, because some may have left since they were counted.
  const { ids } = await lookForWaiting(deps.store.read, filter)
  const chosen = ids.filter((one) => one <= upTo).slice(0, most)
  const { changed, inFlight, unchanged, retried } = await changeWaiting(
    deps,
    name,
    { ids: chosen },
    { reason, land: deps.land },
  )
  if (retried.length > 0) deps.running.retry(retried)
  const said = [
    `${changed.toLocaleString('en-GB')} ${changed === 1 ? 'delivery is' : 'deliveries are'} ${queueChanges[name].done}`,
    ...(inFlight > 0 ? [`${inFlight} in flight were left alone`] : []),
    ...(unchanged > 0
      ? [`${unchanged} were left as they were: never tried yet, held, or gone`]
      : []),
  ]
  const given = Object.fromEntries(Object.entries(choice).filter(([, value]) => value !== ''))
  return redirect(linkTo('/operator/queue', id === '' ? withoutHeld(choice) : {}), {
    flash: said.join('; '),
    audit: {
      action: `queue.${name}`,
      target: id === '' ? `${changed} deliveries` : id,
      detail: { ...given, changed, inFlight, ...(reason !== '-' && { reason }) },
    },
  })
}

/**
 * The way back to the list leaves this part of the choice out: a released delivery is no longer held and would not be
 * shown.
 */
const withoutHeld = ({ held: _, ...choice }: QueueChoice) => choice

/** The operator's reason, `-` for changes that need none. */
function reasonIn(name: QueueChangeName, given: string): string {
  const { reason } = queueChanges[name]
  if (reason === 'none') return '-'
  if (given.trim() === '' && reason === 'usual') return usualReason
  if (given.trim() !== '') return checkedReason(given)
  const options = { status: 422, fields: { field: 'reason' } }
  throw new ApiError('validation_error', 'Say why: it is part of what the senders see', options)
}
