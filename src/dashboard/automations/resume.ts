import { counted } from '../../amounts/index.js'
import {
  findAutomation,
  planResume,
  type ResumePlan,
  readDefinition,
} from '../../automations/index.js'
import { type PageAnswer, page } from '../shell/answer.js'
import type { Faults } from '../shell/faults.js'
import type { Visit } from '../shell/visit.js'
import type { AutomationPageDeps } from './deps.js'
import { type AutomationFrame, frameOf } from './frame.js'
import { wordBook } from './word-book.js'

interface ResumeView extends AutomationFrame {
  says: string
  choices: { value: string; label: string; hint: string }[]
  mayResume: boolean
  faults: Faults
}

/** How a paused automation can go on, and what each way would send at once. Throws a 404. */
export async function showResume(
  { store: { read }, versions }: AutomationPageDeps,
  visit: Visit,
  faults: Faults,
): Promise<PageAnswer> {
  const { account, now } = visit
  const found = await findAutomation(read, account.id, visit.params.id ?? '')
  const { definition } = await readDefinition(read, found.id, found.version)
  const book = await wordBook(read, account.id, [definition])
  const plan = await planResume({ read, versions }, found, now)
  const view: ResumeView = {
    ...frameOf(visit, found, { here: 'flow', definition, book }),
    says: saysOf(plan, found.paused_at !== null),
    choices: choicesOf(plan),
    mayResume: found.status !== 'archived' && (found.paused_at !== null || plan.held > 0),
    faults,
  }
  return page('automations/resume', view, { title: `${found.name}: go on` })
}

function saysOf(plan: ResumePlan, isPaused: boolean): string {
  const people = `${plan.isAll ? '' : 'More than '}${counted(plan.held, 'person is', 'people are')}`
  if (plan.held > 0) return `${people} held: their time came meanwhile.`
  return isPaused ? 'Nobody’s time has come meanwhile.' : 'It is not paused, and nobody is held.'
}

const mailsAtOnce = (count: number, isAll: boolean) =>
  count === 0
    ? 'Sends no mail at once.'
    : `Sends up to ${count.toLocaleString('en-GB')}${isAll ? '' : ' and more'} ${count === 1 ? 'mail' : 'mails'} at once.`

const choicesOf = ({ mails, isAll }: ResumePlan): ResumeView['choices'] => [
  {
    value: 'shift',
    label: 'As if no time had passed',
    hint: `Every wait ends later, by as long as the pause was. ${mailsAtOnce(mails.shift, isAll)}`,
  },
  {
    value: 'now',
    label: 'Catch up now',
    hint: `Whoever’s time has come goes on at once. ${mailsAtOnce(mails.now, isAll)}`,
  },
  {
    value: 'skip',
    label: 'Leave out what was missed',
    hint: `Whoever’s time has come goes on at once, without the mails that they would get now. ${mailsAtOnce(mails.skip, isAll)}`,
  },
]

/** Who goes on at once, and who waits on: where every wait ends later, nobody’s time has come. */
export function resumedWords(
  { released, held }: { released: number; held: number },
  how: string | undefined,
): string {
  const now = how === 'now' || how === 'skip' ? Math.min(held, released) : 0
  const later = released - now
  const parts = [
    ...(now > 0 ? [`${counted(now, 'person goes', 'people go')} on now`] : []),
    ...(later > 0 ? [`${counted(later, 'person waits', 'people wait')} on`] : []),
  ]
  return `It goes on: ${parts.length === 0 ? 'nobody is in it' : parts.join(', ')}`
}
