import { findAutomation, findRun, type Run, readDefinition } from '../../automations/index.js'
import { type Moment, moment } from '../format.js'
import { type PageAnswer, page } from '../shell/answer.js'
import type { Faults } from '../shell/faults.js'
import type { Visit } from '../shell/visit.js'
import type { AutomationPageDeps } from './deps.js'
import { endWords, resultWords } from './result-words.js'
import { sentences } from './runs.js'
import { wordBook } from './word-book.js'
import { stepTitle } from './words.js'

interface RunView {
  base: string
  id: string
  page: string
  who: string
  automation: { name: string; page: string }
  says: string
  contact: string | undefined
  version: string
  began: Moment
  moved: Moment
  lines: { step: string; result: string; at: Moment; mail: string | undefined }[]
  mayCancel: boolean
  faults: Faults
}

/** One person's way through an automation. Throws a 404. */
export async function showRun(
  deps: AutomationPageDeps,
  visit: Visit,
  faults: Faults,
): Promise<PageAnswer> {
  const { read } = deps.store
  const { account, base, now, params, person } = visit
  const run = await findRun(read, account.id, params.run ?? '')
  const automation = await findAutomation(read, account.id, run.automationId)
  const { definition } = await readDefinition(read, automation.id, run.version)
  const book = await wordBook(read, account.id, [definition])
  const zone = person.timeZone ?? 'UTC'
  const [says = ''] = await sentences(deps, automation, [run], { book, zone, now })
  const titleOf = (key: string | null) => {
    const step = definition.steps.find((one) => one.key === key)
    return step === undefined ? (key ?? '–') : stepTitle(step, book, definition)
  }
  const view: RunView = {
    base,
    id: run.id,
    page: `${base}/automations/runs/${run.id}`,
    who: run.email ?? 'Somebody who is deleted',
    automation: { name: automation.name, page: `${base}/automations/${automation.id}` },
    says,
    contact: run.contactId === null ? undefined : `${base}/contacts/${run.contactId}`,
    version: String(run.version),
    began: moment(run.startedAt, now),
    moved: moment(run.updatedAt, now),
    lines: run.history.map(({ step, at, result, emailId }) => ({
      step: titleOf(step),
      result: lineOf(result, run.status),
      at: moment(at, now),
      mail: emailId === undefined ? undefined : `${base}/emails/${emailId}`,
    })),
    mayCancel:
      visit.may('automations.write') && (run.status === 'running' || run.status === 'waiting'),
    faults,
  }
  return page('automations/run', view, { title: `${view.who} in ${automation.name}` })
}

/** A line of a history; the last line of a finished run also says why it ended. */
function lineOf(result: string, status: Run['status']): string {
  const [kind = '', ...reason] = result.split(':')
  return kind === 'ended' ? endWords(status, reason.join(':'), 'line') : resultWords(result, 'line')
}
