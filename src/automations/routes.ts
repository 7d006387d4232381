import type { Principal } from '../accounts/index.js'
import { checkOpen, readBilling } from '../billing/index.js'
import { serve } from '../contract/index.js'
import { type Api, type Remember, reply } from '../http/index.js'
import {
  automationPage,
  automationsAnswer,
  detailAnswer,
  enabledAnswer,
  fittingPage,
  madeAnswer,
  runsAnswer,
  shownCohort,
  shownDetail,
  shownPreview,
  shownRun,
  shownState,
  whyOf,
} from './answers.js'
import { acceptBatch } from './batch.js'
import * as operations from './contract.js'
import {
  moveFor,
  resumeFor,
  shownPause,
  shownStart,
  shownTakeOut,
  standingAnswer,
  startAnswer,
  startFor,
  takenOutWords,
  wouldPause,
  wouldTakeOut,
} from './course-answers.js'
import {
  archiveAutomation,
  cancelRun,
  createAutomation,
  definitionIn,
  disableAutomation,
  duplicateAutomation,
  editAutomation,
  enableAutomation,
  findAutomation,
  refuseBrokenSubjects,
  type WrittenAlongside,
} from './definition/index.js'
import { draftAnswer, dropDraft, enableWritten, writeDraft } from './draft-answers.js'
import { eventNamesAnswer } from './event-names.js'
import { type AcceptDeps, acceptEvents } from './events/index.js'
import { findRun } from './runs/index.js'
import { meantRunsIn, ofPerson, runsFilterOf } from './runs-asked.js'
import { type PreviewDeps, previewAutomation, previewCohort } from './trial/index.js'
import {
  lastTakeOut,
  pauseAutomation,
  startForContact,
  stopBackfill,
  type TakeOuts,
} from './upkeep/index.js'

/** What the routes need: all that taking in events and walking through takes. */
export type AutomationRouteDeps = AcceptDeps & PreviewDeps & { takeOuts: TakeOuts }

/**
 * Automations by the API: events that start them, their definitions, their runs, and a trial
 * without mail.
 */
export function automationRoutes(api: Api<Principal>, deps: AutomationRouteDeps): void {
  eventRoutes(api, deps)
  definitionRoutes(api, deps)
  draftRoutes(api, deps)
  stateRoutes(api, deps)
  courseRoutes(api, deps)
  runRoutes(api, deps)
  takeOutRoutes(api, deps)
}

/** 202 and not 200: the event is on disk, and what follows from it happens later (interface.md). */
function eventRoutes(api: Api<Principal>, deps: AutomationRouteDeps): void {
  const billingOf = (accountId: string) => readBilling(deps.store.read, deps.plans, accountId)

  serve(api, operations.sendEvent, async ({ account, body, remember }) => {
    const billing = await billingOf(account.accountId)
    const [accepted] = await acceptEvents(deps, billing, [body], {
      alongside: (tx, [one]) => remember(tx, one, 202),
    })
    if (accepted === undefined) throw new Error('An event that was taken in has no result')
    return reply(202, accepted)
  })

  serve(api, operations.sendEvents, async ({ account, body, remember }) => {
    const billing = await billingOf(account.accountId)
    return reply(202, await acceptBatch(deps, billing, body.events, remember))
  })

  serve(api, operations.listEventNames, async ({ account: { accountId }, query }) => {
    const { limit = operations.usualNames, cursor } = query
    return eventNamesAnswer({ read: deps.store.read, versions: deps.versions }, accountId, {
      limit,
      cursor,
    })
  })
}

/** The definitions, and what they would do for somebody. */
function definitionRoutes(api: Api<Principal>, deps: AutomationRouteDeps): void {
  const { read } = deps.store
  const billingOf = (accountId: string) => readBilling(read, deps.plans, accountId)

  serve(api, operations.createAutomation, async ({ account, body, remember }) => {
    const billing = await billingOf(account.accountId)
    // Unknown fields come from a newer client and are ignored; those of steps and settings are refused.
    const { name, steps, connections, settings } = body
    const given = { name, steps, connections, settings }
    definitionIn({ steps, connections, settings })
    await refuseBrokenSubjects(deps, account.accountId, steps)
    const made = await createAutomation(deps, billing, given, (tx, made) =>
      remember(tx, madeAnswer(made), 201),
    )
    return reply(201, madeAnswer(made))
  })

  serve(
    api,
    operations.duplicateAutomation,
    async ({ account, params: { id }, body, remember }) => {
      const billing = await billingOf(account.accountId)
      const made = await duplicateAutomation(
        deps,
        billing,
        id,
        (tx, made) => remember(tx, madeAnswer(made), 201),
        { withDraft: body.draft === true },
      )
      return reply(201, madeAnswer(made))
    },
  )

  serve(
    api,
    operations.listAutomations,
    async ({ account, query: { limit = operations.usualPage, cursor } }) =>
      automationsAnswer(await automationPage(read, account.accountId, { limit, cursor })),
  )

  serve(api, operations.getAutomation, async ({ account, params }) =>
    detailAnswer(read, await findAutomation(read, account.accountId, params.id)),
  )

  serve(api, operations.updateAutomation, async ({ account: { accountId }, params, body }) => {
    const { name, steps, connections, settings } = body
    const changes = { name, steps, connections, settings }
    const billing = await billingOf(accountId)
    await refuseBrokenSubjects(deps, accountId, steps)
    return shownDetail(read, await editAutomation(deps, billing, params.id, changes))
  })

  // A client may ask about steps that are not saved, so that an editor can show what its author is writing.
  serve(api, operations.simulateAutomation, async ({ account: { accountId }, params, body }) => {
    const { email = '', listId, segmentId, ...world } = body
    if (listId === undefined && segmentId === undefined) {
      return shownPreview(await previewAutomation(deps, accountId, params.id, { ...world, email }))
    }
    const crowd = segmentId === undefined ? { listId: listId ?? '' } : { segmentId }
    return shownCohort(await previewCohort(deps, accountId, params.id, crowd, world))
  })
}

/** The draft, which is not in force. */
function draftRoutes(api: Api<Principal>, deps: AutomationRouteDeps): void {
  const { read } = deps.store
  const billingOf = (accountId: string) => readBilling(read, deps.plans, accountId)

  serve(api, operations.getDraft, async ({ account, params }) =>
    draftAnswer(deps, await findAutomation(read, account.accountId, params.id)),
  )

  serve(api, operations.updateDraft, async ({ account: { accountId }, params, body }) =>
    writeDraft(deps, await billingOf(accountId), params.id, body),
  )

  serve(api, operations.enableDraft, async ({ account: { accountId }, params, body }) =>
    shownState(await enableWritten(deps, await billingOf(accountId), params.id, body.revision)),
  )

  serve(api, operations.discardDraft, async ({ account, params }) =>
    dropDraft(deps, account.accountId, params.id),
  )
}

/** Stopping all runs that fit. */
function takeOutRoutes(api: Api<Principal>, deps: AutomationRouteDeps): void {
  const { read } = deps.store

  serve(api, operations.cancelRuns, async ({ account, params: { id }, body, remember }) => {
    const found = await findAutomation(read, account.accountId, id)
    const filter = await meantRunsIn(read, found.id, body)
    if (body.dryRun) return reply(200, await wouldTakeOut(read, found, filter))
    const says = takenOutWords(body)
    const order = { filter, says, startedBy: account.keyId }
    const begun = await deps.takeOuts.begin(found, order, (tx, task) =>
      remember(tx, shownTakeOut(task), 202),
    )
    return reply(202, shownTakeOut(begun))
  })

  serve(api, operations.getRunsCancelled, async ({ account, params: { id } }) =>
    shownTakeOut(await lastTakeOut(read, await findAutomation(read, account.accountId, id))),
  )

  serve(api, operations.stopCancelling, async ({ account: { accountId }, params: { id } }) => {
    const last = await lastTakeOut(read, await findAutomation(read, accountId, id))
    return shownTakeOut(await deps.takeOuts.change(accountId, last.id, 'stopped'))
  })
}

/** A repeat of enable, disable or archive answers as the first did: all three are idempotent. */
function stateRoutes(api: Api<Principal>, deps: AutomationRouteDeps): void {
  const { read } = deps.store
  const remembered =
    (remember: Remember): WrittenAlongside =>
    (tx, automation) =>
      remember(tx, shownState(automation))

  serve(api, operations.enableAutomation, async ({ account, params: { id }, remember }) => {
    const billing = await readBilling(read, deps.plans, account.accountId)
    const enabled = await enableAutomation(deps, billing, id, async (tx, automation) =>
      remember(tx, await enabledAnswer(tx, automation)),
    )
    return await enabledAnswer(read, enabled)
  })

  serve(api, operations.disableAutomation, async ({ account, params: { id }, remember }) =>
    shownState(await disableAutomation(deps, account.accountId, id, remembered(remember))),
  )

  serve(api, operations.archiveAutomation, async ({ account, params: { id }, remember }) =>
    shownState(await archiveAutomation(deps, account.accountId, id, remembered(remember))),
  )
}

/** What is done with an automation while people are in it, and how they stand. */
function courseRoutes(api: Api<Principal>, deps: AutomationRouteDeps): void {
  const { read } = deps.store

  serve(api, operations.pauseAutomation, async ({ account, params: { id }, body, remember }) => {
    const found = await findAutomation(read, account.accountId, id)
    if (body.dryRun) return wouldPause(found)
    return shownPause(
      await pauseAutomation(deps, found, (tx, paused) => remember(tx, shownPause(paused))),
    )
  })

  serve(api, operations.resumeAutomation, async ({ account, params: { id }, body }) =>
    resumeFor(deps, await findAutomation(read, account.accountId, id), body),
  )

  serve(api, operations.moveRuns, async ({ account, params: { id }, body }) =>
    moveFor(deps, await findAutomation(read, account.accountId, id), body, operations.mostMoved),
  )

  serve(api, operations.startForCrowd, async ({ account: { accountId }, params: { id }, body }) => {
    checkOpen(await readBilling(read, deps.plans, accountId))
    const { listId = '', segmentId, perHour = operations.usualPerHour, dryRun } = body
    const crowd = segmentId === undefined ? { listId } : { segmentId }
    return startFor(deps, await findAutomation(read, accountId, id), { crowd, perHour, dryRun })
  })

  serve(api, operations.getCrowdStart, async ({ account: { accountId }, params: { id } }) =>
    startAnswer(read, accountId, id),
  )

  serve(api, operations.stopCrowdStart, async ({ account, params: { id } }) =>
    shownStart(await stopBackfill(deps, await findAutomation(read, account.accountId, id))),
  )

  serve(api, operations.automationStanding, async ({ account, params: { id } }) =>
    standingAnswer(read, await findAutomation(read, account.accountId, id)),
  )
}

/** Runs, those under way and those that have ended. */
function runRoutes(api: Api<Principal>, deps: AutomationRouteDeps): void {
  const { read } = deps.store

  serve(api, operations.listRuns, async ({ account, params: { id }, query }) => {
    const { limit = operations.usualPage, cursor, email, ...asked } = query
    await findAutomation(read, account.accountId, id)
    const among = await runsFilterOf(read, id, asked)
    const filter = await ofPerson(read, account.accountId, among, email)
    return runsAnswer(await fittingPage(read, id, { filter, limit, cursor }))
  })

  serve(api, operations.startRun, async ({ account, params: { id }, body, remember }) => {
    const billing = await readBilling(read, deps.plans, account.accountId)
    const shown = (run: { id: string }) => ({
      id: run.id,
      status: 'running',
      message: 'Automation started for the contact',
    })
    const whom = { automationId: id, contactId: body.contactId }
    const run = await startForContact(deps, billing, whom, (tx, one) =>
      remember(tx, shown(one), 201),
    )
    return reply(201, shown(run))
  })

  serve(api, operations.getRun, async ({ account: { accountId }, params: { id } }) => {
    const run = await findRun(read, accountId, id)
    const automation = await findAutomation(read, accountId, run.automationId)
    return { ...shownRun(run), why: await whyOf(deps, automation, run) }
  })

  serve(api, operations.cancelRun, async ({ account, params: { id }, remember }) => {
    const answer = { id, status: 'cancelled', message: 'Run cancelled' }
    await cancelRun(deps, account.accountId, id, (tx) => remember(tx, answer))
    return answer
  })
}
