import { string, type } from 'superstruct'
import { counted } from '../../amounts/index.js'
import * as operations from '../../automations/contract.js'
import {
  type Automation,
  type AutomationDefinition,
  changedSince,
  findAutomation,
  InvalidAutomation,
  isAutomationName,
  newestVersion,
  planMove,
  planMoveToDraft,
  putInForce,
  readWritten,
  validate,
} from '../../automations/index.js'
import { readBilling } from '../../billing/index.js'
import { auditOf } from '../../contract/index.js'
import { ApiError } from '../../errors/index.js'
import type { Read } from '../../store/index.js'
import { type MovedGroup, movedGroups } from '../automations/moved-groups.js'
import { wordBook } from '../automations/word-book.js'
import type { CampaignCheck } from '../campaigns/check.js'
import { checkList } from '../campaigns/check-list.js'
import { type PageAnswer, page, redirect } from '../shell/answer.js'
import { type Faults, noFaults } from '../shell/faults.js'
import type { Html } from '../shell/html.js'
import { inQuotes } from '../shell/names.js'
import type { AccountPages } from '../shell/page.js'
import type { Visit } from '../shell/visit.js'
import type { AutomationEditDeps } from './deps.js'
import { checksOf } from './enable-checks.js'
import { refusedInWords } from './refusal-words.js'
import { unwrittenMails } from './unready-words.js'
import { unseenWords } from './unseen-words.js'
import { writable } from './written.js'

interface EnableView {
  page: string
  id: string
  name: string
  revision: string
  checks: Html
  /** The text of the button; undefined where there is nothing to put in force, or something prevents it. */
  button: string | undefined
  /** The heading over what can be done. */
  title: string
  says: string
  /** How many are in older versions; undefined where nobody is. */
  older: string | undefined
  /** Where those people are, and what a move to the new version would do with them. */
  groups: MovedGroup[]
  faults: Faults
}

const RevisionForm = type({ revision: string() })

/** The checklist of an automation, and turning it on. */
export function enablePages(pages: AccountPages, deps: AutomationEditDeps): void {
  const { read } = deps.store
  const action = 'automations.write' as const
  const show = (visit: Visit, faults: Faults) => showEnable(deps, visit, faults)
  pages.get('/automations/:id/enable', action, (visit) => show(visit, noFaults))
  const enabling = { action, form: RevisionForm, again: show } as const
  pages.post('/automations/:id/enable', enabling, async (visit) => {
    const { account, base, form } = visit
    const found = await writable(read, visit)
    const billing = await readBilling(read, deps.plans, account.id)
    const { definition } = await readWritten(read, found)
    const book = await wordBook(read, account.id, [definition])
    const { name } = await refusedInWords(
      'It is not turned on.',
      { definition, book },
      async () => {
        await refuseUnwritten(read, account.id, definition)
        return await putInForce(deps, billing, found.id, form.revision)
      },
    ).catch(async (error: unknown) => {
      if (!(error instanceof ApiError) || error.message !== changedSince) throw error
      const now = await findAutomation(read, account.id, found.id)
      const { isDraft } = await readWritten(read, now)
      // Somebody was faster, or the same person in another tab.
      if (now.status !== 'enabled' || isDraft) throw changedByOthers()
      return now
    })
    return redirect(`${base}/automations/${found.id}/enable`, {
      flash: `“${name}” is on as it is written here`,
      audit: auditOf(operations.enableAutomation, { target: found.id }),
    })
  })
}

/** Words that a recipe has for its author must reach nobody, whatever hides them from the checks. */
async function refuseUnwritten(
  read: Read,
  accountId: string,
  definition: AutomationDefinition,
): Promise<void> {
  const errors = await unwrittenMails(read, accountId, definition)
  if (errors.length === 0) return
  throw new InvalidAutomation('Mails of it are not written yet', errors)
}

const changedByOthers = () =>
  new ApiError(
    'conflict',
    'Somebody has changed it since you opened this page. Look at it once more below, then press the button again',
  )

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
  const isOn = found.status === 'enabled'
  const at = { billing, base, here, id: found.id, isOn }
  const checks = await checksOf(deps, at, definition, book)
  const unseen = await unseenWords(deps, account.id, definition, book)
  checks.push(...unseen.map((says): CampaignCheck => ({ tone: 'doubt', says })))
  if (!isAutomationName(name)) {
    const mend = { label: 'Write it', href: `${here}/edit#field-name` }
    checks.push({
      tone: 'bad',
      says: 'Its name has to have 1 to 200 characters, in one line.',
      mend,
    })
  }
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
    title: titleOf({ isOn, isDraft, isReady }),
    says: saysOf({ isOn, isDraft, isReady }),
    older: people === 0 ? undefined : counted(people, 'person is', 'people are'),
    groups,
    faults,
  }
  return page('automation-edit/enable', view, { title: `Check “${name}”` })
}

interface Standing {
  isOn: boolean
  isDraft: boolean
  isReady: boolean
}

function titleOf({ isOn, isDraft, isReady }: Standing): string {
  if (!isOn) return 'Turn it on'
  if (!isDraft) return 'It is on'
  return isReady ? 'Put the draft in force' : 'The draft'
}

function saysOf({ isOn, isDraft, isReady }: Standing): string {
  if (!isReady && isOn) {
    return isDraft
      ? 'The draft cannot be put in force yet: mend what is in the way, then come back. The automation goes on as it was.'
      : 'It is on, but it cannot do what it is for: mend what is in the way.'
  }
  if (!isReady) return 'It cannot be turned on yet: mend what is in the way, then come back.'
  if (isOn && !isDraft) return 'It is on as it is written; there is no draft.'
  if (isOn) {
    return 'Whoever enters from now on goes by the draft. Who is in it stays in the version in which they began, until you move them here.'
  }
  return 'From then on whoever fits enters it. You can turn it off, or pause it, at any time.'
}

/** The people in other versions, by step; a draft has none. */
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

/** People at a deleted step can move only where somebody says with which step they go on. */
const stranded = (groups: readonly MovedGroup[]): CampaignCheck[] =>
  groups.flatMap(({ step, version, count, stays }): CampaignCheck[] =>
    stays === undefined
      ? []
      : [
          {
            tone: 'doubt',
            says: `${counted(count, 'person is', 'people are')} at ${inQuotes(step)} of version ${version}. ${stays}: they go on in their version, unless you move them and say with which step they go on.`,
          },
        ],
  )
