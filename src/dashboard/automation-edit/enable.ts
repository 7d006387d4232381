import { string, type } from 'superstruct'
import { counted } from '../../amounts/index.js'
import * as operations from '../../automations/contract.js'
import {
  type Automation,
  type AutomationDefinition,
  automationWarnings,
  checkEnabling,
  isAutomationName,
  newestVersion,
  planMove,
  planMoveToDraft,
  putInForce,
  readWritten,
  type StepFault,
  validate,
} from '../../automations/index.js'
import { type AccountBilling, readBilling } from '../../billing/index.js'
import { auditOf } from '../../contract/index.js'
import { ApiError } from '../../errors/index.js'
import { namesAmong } from '../../events/index.js'
import type { Read } from '../../store/index.js'
import { type MovedGroup, movedGroups } from '../automations/moved-groups.js'
import { wordBook } from '../automations/word-book.js'
import {
  durationWords,
  startWords,
  stepWords,
  titleOf,
  type WordBook,
} from '../automations/words.js'
import type { CampaignCheck } from '../campaigns/check.js'
import { checkList } from '../campaigns/check-list.js'
import { type PageAnswer, page, redirect } from '../shell/answer.js'
import { type Faults, noFaults } from '../shell/faults.js'
import type { Html } from '../shell/html.js'
import type { AccountPages } from '../shell/page.js'
import type { Visit } from '../shell/visit.js'
import type { AutomationEditDeps } from './deps.js'
import { writable } from './edit.js'
import { faultWords } from './fault-words.js'

interface EnableView {
  page: string
  id: string
  name: string
  revision: string
  checks: Html
  /** What the button says; undefined where there is nothing to put in force, or something is in the way. */
  button: string | undefined
  isOn: boolean
  says: string
  /** How many are in older versions; undefined where nobody is. */
  older: string | undefined
  /** Where they are, and what a move to what is written would make of them. */
  groups: MovedGroup[]
  faults: Faults
}

const RevisionForm = type({ revision: string() })

/** The checklist of an automation, and its enabling. */
export function enablePages(pages: AccountPages, deps: AutomationEditDeps): void {
  const { read } = deps.store
  const action = 'automations.write' as const
  const show = (visit: Visit, faults: Faults) => showEnable(deps, visit, faults)
  pages.get('/automations/:id/enable', action, (visit) => show(visit, noFaults))
  const enabling = { action, form: RevisionForm, again: show } as const
  pages.post('/automations/:id/enable', enabling, async (visit) => {
    const { account, base, form } = visit
    const { id } = await writable(read, visit)
    const billing = await readBilling(read, deps.plans, account.id)
    const { name } = await putInForce(deps, billing, id, form.revision)
    return redirect(`${base}/automations/${id}/enable`, {
      flash: `“${name}” is on as it is written here`,
      audit: auditOf(operations.enableAutomation, { target: id }),
    })
  })
}

async function showEnable(
  deps: AutomationEditDeps,
  visit: Visit,
  faults: Faults,
): Promise<PageAnswer> {
  const { read } = deps.store
  const { account, base } = visit
  const found = await writable(read, visit)
  const { name, definition, revision, isDraft } = await readWritten(read, found)
  const book = await wordBook(read, account.id, [definition])
  const billing = await readBilling(read, deps.plans, account.id)
  const here = `${base}/automations/${found.id}`
  const checks = await checksOf(read, { billing, base, here }, definition, book)
  if (!isAutomationName(name)) {
    const mend = { label: 'Write it', href: `${here}/edit` }
    checks.push({
      tone: 'bad',
      says: 'Its name has to have 1 to 200 characters, in one line.',
      mend,
    })
  }
  const isOn = found.status === 'enabled'
  const groups = await olderGroups(read, found, { definition, isDraft })
  checks.push(...stranded(groups))
  const people = groups.reduce((sum, { count }) => sum + count, 0)
  const isReady = checks.every(({ tone }) => tone !== 'bad')
  const view: EnableView = {
    page: here,
    id: found.id,
    name,
    revision,
    checks: checkList(checks),
    button:
      !isReady || (isOn && !isDraft) ? undefined : isOn ? 'Put the draft in force' : 'Turn it on',
    isOn,
    says: saysOf({ isOn, isDraft, isReady }),
    older: people === 0 ? undefined : counted(people, 'person is', 'people are'),
    groups,
    faults,
  }
  return page('automation-edit/enable', view, { title: `Check “${name}”` })
}

function saysOf({
  isOn,
  isDraft,
  isReady,
}: {
  isOn: boolean
  isDraft: boolean
  isReady: boolean
}): string {
  if (!isReady) return 'It cannot be turned on yet: mend what is in the way, then come back.'
  if (isOn && !isDraft) return 'It is on as it is written; there is no draft.'
  if (isOn) {
    return 'Whoever enters from now on goes by the draft. Who is in it stays in the version in which they began, until you move them here.'
  }
  return 'From then on whoever fits enters it. You can turn it off, or pause it, at any time.'
}

interface CheckedAt {
  billing: AccountBilling
  base: string
  here: string
}

/** What speaks for and against turning it on as it is written. */
async function checksOf(
  read: Read,
  { billing, base, here }: CheckedAt,
  definition: AutomationDefinition,
  book: WordBook,
): Promise<CampaignCheck[]> {
  const edit = { label: 'Write it', href: `${here}/edit` }
  const { definition: valid, faults } = validate(definition)
  const called = (key: string | null) => {
    const step = definition.steps.find((one) => one.key === key)
    return step === undefined ? '' : `“${step.name ?? stepWords(step, book, definition)}”: `
  }
  const told =
    (tone: 'bad' | 'doubt') =>
    (one: StepFault): CampaignCheck => ({
      tone,
      says: `${called(one.key)}${faultWords(one, titleOf(definition, book))}`,
      mend: edit,
    })
  if (valid === undefined) return faults.map(told('bad'))
  const checks: CampaignCheck[] = [
    { tone: 'none', says: `${startWords(valid, book)}. ${reentryWords(valid)}` },
    { tone: 'good', says: `All ${valid.steps.length} steps fit together.` },
  ]
  try {
    const lacking = await checkEnabling(read, billing, valid)
    checks.push(...lacking.map(told('bad')))
    if (lacking.length === 0) {
      checks.push({
        tone: 'good',
        says: 'Its templates, senders and topics are there, and your plan has room.',
      })
    }
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500) throw error
    checks.push({
      tone: 'bad',
      says:
        error.code === 'marketing_subscription_required'
          ? 'It sends news, which needs a marketing plan, and this account has none. The operator of this server gives plans.'
          : error.message,
      mend: { label: 'Your plan', href: `${base}/plan` },
    })
  }
  checks.push(...(await automationWarnings(read, billing.accountId, valid)).map(told('doubt')))
  checks.push(...(await unheard(read, billing.accountId, valid)))
  return checks
}

/** Events that never came: most of them are mistyped. */
async function unheard(
  read: Read,
  accountId: string,
  { steps }: AutomationDefinition,
): Promise<CampaignCheck[]> {
  const names = steps.flatMap((step) =>
    step.type === 'trigger' || step.type === 'wait_for_event' ? [step.config.eventName] : [],
  )
  const own = new Set(names.filter((name) => !name.startsWith('$')))
  if (own.size === 0) return []
  const seen = await namesAmong(read, accountId, [...own])
  return [...own]
    .filter((name) => !seen.has(name))
    .map((name) => ({
      tone: 'doubt',
      says: `The event “${name}” has never come. Look whether your application sends it under this name.`,
    }))
}

/** How often one person may go through it. */
function reentryWords({ steps }: AutomationDefinition): string {
  const trigger = steps.find((step) => step.type === 'trigger')
  const reentry = trigger?.type === 'trigger' ? trigger.config.reentry : undefined
  if (reentry === 'once') return 'One person goes through it once, and never again.'
  if (typeof reentry === 'object') {
    return `One person goes through it again, but not within ${durationWords(reentry.after)} of the last time it began for them.`
  }
  return 'One person may go through it again each time, once they are through.'
}

/** Who is in other versions, by step; of a draft nobody is. */
async function olderGroups(
  read: Read,
  found: Automation,
  { definition, isDraft }: { definition: AutomationDefinition; isDraft: boolean },
): Promise<MovedGroup[]> {
  if (found.running + found.waiting === 0) return []
  if (!isDraft) {
    const newest = await newestVersion(read, found)
    const to = { definition, called: 'The new version' }
    return await movedGroups(read, found, await planMove(read, found, newest), to)
  }
  const valid = validate(definition).definition
  if (valid === undefined) return []
  const groups = await planMoveToDraft(read, found, valid)
  return await movedGroups(read, found, groups, { definition: valid, called: 'The draft' })
}

/** Whoever is at a step that is gone can move only where somebody says with which step they go on. */
const stranded = (groups: readonly MovedGroup[]): CampaignCheck[] =>
  groups.flatMap(({ step, version, count, stays }): CampaignCheck[] =>
    stays === undefined
      ? []
      : [
          {
            tone: 'doubt',
            says: `${counted(count, 'person is', 'people are')} at “${step}” of version ${version}. ${stays}: they go on in their version, unless you move them and say with which step they go on.`,
          },
        ],
  )
