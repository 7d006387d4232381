import { array, optional, string, type } from 'superstruct'
import { counted, shownCount } from '../../amounts/index.js'
import * as operations from '../../automations/contract.js'
import {
  cancelRun,
  findAutomation,
  findBackfill,
  findRun,
  moveFor,
  readDefinition,
  resumeFor,
  startFor,
  stopBackfill,
} from '../../automations/index.js'
import { checkOpen, readBilling } from '../../billing/index.js'
import { auditOf, checked } from '../../contract/index.js'
import { ApiError } from '../../errors/index.js'
import { redirect } from '../shell/answer.js'
import { type Faults, noFaults } from '../shell/faults.js'
import { linkTo } from '../shell/listing.js'
import type { AccountPages } from '../shell/page.js'
import type { Visit } from '../shell/visit.js'
import type { AutomationPageDeps } from './deps.js'
import { showMove } from './move.js'
import { resumedWords, showResume } from './resume.js'
import { showRun } from './run.js'
import { showRuns } from './runs.js'
import { chosenLive, chosenOf, runChoices } from './runs-filter.js'
import { crowdIn, lookedMark, showStart } from './start.js'
import { wordBook } from './word-book.js'

const ResumeForm = type({ overdue: optional(string()) })
const TakeOutForm = type({ everybody: optional(string()) })
const MoveForm = type({ version: string(), step: array(string()), begins: array(string()) })
const StartForm = type({
  whom: optional(string()),
  perHour: optional(string()),
  looked: optional(string()),
})

/** The people of automations: who is where; they are taken out, moved, let go on and let in. */
export function automationPeoplePages(pages: AccountPages, deps: AutomationPageDeps): void {
  runPages(pages, deps)
  resumePages(pages, deps)
  startPages(pages, deps)
}

const named = (deps: AutomationPageDeps, { account, params }: Pick<Visit, 'account' | 'params'>) =>
  findAutomation(deps.store.read, account.id, params.id ?? '')

function runPages(pages: AccountPages, deps: AutomationPageDeps): void {
  const { read } = deps.store
  const againOne = (visit: Visit, faults: Faults) => showRun(deps, visit, faults)
  pages.get('/automations/runs/:run', 'automations.read', (visit) => againOne(visit, noFaults))
  const cancelling = { action: 'automations.write', again: againOne } as const
  pages.post('/automations/runs/:run/cancel', cancelling, async ({ account, base, params }) => {
    const run = await findRun(read, account.id, params.run ?? '')
    await cancelRun(deps, account.id, run.id, undefined, 'team')
    return redirect(`${base}/automations/runs/${run.id}`, {
      flash: `${run.email ?? 'They'} left the automation`,
      audit: auditOf(operations.cancelRun, { target: run.id }),
    })
  })

  const again = (visit: Visit, faults: Faults) => showRuns(deps, visit, faults)
  pages.get('/automations/:id/runs', 'automations.read', (visit) => again(visit, noFaults))
  const all = { action: 'automations.write', form: TakeOutForm, again } as const
  pages.post('/automations/:id/runs/cancel', all, async (visit) => {
    const { base, form, query, person } = visit
    const found = await named(deps, visit)
    const { only, filter } = await chosenLive(read, found, query)
    // The page's button says so: an address that has lost its choices takes out nobody.
    if (only === undefined && form.everybody === undefined) throw notChosen()
    const { definition } = await readDefinition(read, found.id, found.version)
    const book = await wordBook(read, found.account_id, [definition])
    const { asked } = await chosenOf(read, found, query)
    const { says = 'Everybody who is in it' } = await runChoices(read, found, {
      definition,
      book,
      asked,
    })
    const { id } = await deps.takeOuts.begin(found, { filter, says, startedBy: person.id })
    return redirect(`${base}/tasks/${id}`, {
      flash: 'It has begun',
      audit: auditOf(operations.cancelRuns, { target: found.id, detail: { says } }),
    })
  })

  const againMove = (visit: Visit, faults: Faults) => showMove(deps, visit, faults)
  pages.get('/automations/:id/move', 'automations.write', (visit) => againMove(visit, noFaults))
  const moving = { action: 'automations.write', form: MoveForm, again: againMove } as const
  pages.post('/automations/:id/move', moving, async (visit) => {
    const { base, form, query } = visit
    const found = await named(deps, visit)
    const instead = form.step.flatMap((step, at) => {
      const begins = form.begins[at] ?? ''
      return begins === '' ? [] : [{ step, begins }]
    })
    const { only } = await chosenLive(read, found, query)
    const given = checked(operations.moveRuns, {
      version: Number(form.version),
      instead,
      ...(only !== undefined && { only }),
    })
    const { version, moved, left } = await moveFor(deps, found, given, operations.mostMoved)
    const rest = left === 0 ? '' : `; ${counted(left, 'person', 'people')} are left: press it again`
    const place = linkTo(`${base}/automations/${found.id}/move`, {
      ...Object.fromEntries(query),
      to: String(version),
    })
    return redirect(place, {
      flash: `${counted(moved, 'person', 'people')} moved to version ${version}${rest}`,
      audit: auditOf(operations.moveRuns, {
        target: found.id,
        detail: { version, moved, ...(instead.length > 0 && { instead }) },
      }),
    })
  })
}

function resumePages(pages: AccountPages, deps: AutomationPageDeps): void {
  const again = (visit: Visit, faults: Faults) => showResume(deps, visit, faults)
  pages.get('/automations/:id/resume', 'automations.write', (visit) => again(visit, noFaults))
  const resuming = { action: 'automations.write', form: ResumeForm, again } as const
  pages.post('/automations/:id/resume', resuming, async (visit) => {
    const { base, form } = visit
    const found = await named(deps, visit)
    const given = checked(operations.resumeAutomation, { overdue: form.overdue })
    const { released, held } = await resumeFor(deps, found, given)
    return redirect(`${base}/automations/${found.id}`, {
      flash: resumedWords({ released, held }, given.overdue),
      audit: auditOf(operations.resumeAutomation, {
        target: found.id,
        detail: { overdue: given.overdue, released },
      }),
    })
  })
}

const notChosen = () =>
  new ApiError(
    'validation_error',
    'Nobody was taken out: choose who is meant, or press “Take everybody out” below',
    { status: 422 },
  )

const nobodyChosen = () =>
  new ApiError('validation_error', 'Choose a list or segment', {
    status: 422,
    fields: { field: 'whom' },
  })

const notLookedAt = (looked: string | undefined) =>
  new ApiError(
    'conflict',
    looked
      ? 'You changed for whom it starts, or how fast, after you looked. Nobody was started. Look below who would enter now, then start it'
      : 'Nobody was started: look below who would enter, then start it',
  )

/** A page older than the start that is under way has a form that must do nothing. */
async function refuseUnderWay(deps: AutomationPageDeps, id: string): Promise<void> {
  const last = await findBackfill(deps.store.read, id)
  if (last === undefined || last.ended_at !== null) return
  throw new ApiError(
    'conflict',
    `It is being started already, for ${shownCount(last.per_hour)} an hour: see below how far it is. Stop that first, or let it come to its end`,
  )
}

function startPages(pages: AccountPages, deps: AutomationPageDeps): void {
  const again = (visit: Visit, faults: Faults) => showStart(deps, visit, { faults })
  pages.get('/automations/:id/start', 'automations.read', (visit) => again(visit, noFaults))
  const given = ({
    whom = '',
    perHour,
  }: {
    whom?: string | undefined
    perHour?: string | undefined
  }) => {
    if (whom === '') throw nobodyChosen()
    return checked(operations.startForCrowd, {
      ...crowdIn(whom),
      perHour: Number(perHour || operations.usualPerHour),
    })
  }
  const starting = { action: 'automations.write', form: StartForm, again } as const
  pages.post('/automations/:id/start/look', { ...starting, reads: true }, async (visit) => {
    await refuseUnderWay(deps, (await named(deps, visit)).id)
    given(visit.form)
    return showStart(deps, { ...visit, form: undefined }, { faults: noFaults, isAsked: true })
  })
  pages.post('/automations/:id/start', starting, async (visit) => {
    const { account, base, form } = visit
    checkOpen(await readBilling(deps.store.read, deps.plans, account.id))
    const found = await named(deps, visit)
    await refuseUnderWay(deps, found.id)
    const { perHour = operations.usualPerHour } = given(form)
    const whom = form.whom ?? ''
    // The form may have changed since somebody looked: nobody is started without having been shown.
    if (form.looked !== lookedMark(whom, perHour)) throw notLookedAt(form.looked)
    const crowd = crowdIn(whom)
    const { message } = await startFor(deps, found, { crowd, perHour })
    return redirect(`${base}/automations/${found.id}/start`, {
      flash: message,
      audit: auditOf(operations.startForCrowd, {
        target: found.id,
        detail: { ...crowd, perHour },
      }),
    })
  })
  pages.post(
    '/automations/:id/start/stop',
    { action: 'automations.write', again },
    async (visit) => {
      const found = await named(deps, visit)
      await stopBackfill(deps, found)
      return redirect(`${visit.base}/automations/${found.id}/start`, {
        flash: 'Stopped: nobody more enters by it',
        audit: auditOf(operations.stopCrowdStart, { target: found.id }),
      })
    },
  )
}
