import { counted, shownCount } from '../../amounts/index.js'
import * as operations from '../../automations/contract.js'
import {
  type Backfill,
  type Crowd,
  crowdOf,
  dateRuleOf,
  findAutomation,
  findBackfill,
  judgeCrowd,
  onTheirDay,
  readDefinition,
} from '../../automations/index.js'
import { listPage, requireList } from '../../contacts/index.js'
import { listSegments, requireSegment } from '../../segments/index.js'
import type { Read } from '../../store/index.js'
import { exactWithZone, type Moment, moment } from '../format.js'
import { type PageAnswer, page } from '../shell/answer.js'
import type { Faults } from '../shell/faults.js'
import { namedOptions } from '../shell/named-options.js'
import type { Visit } from '../shell/visit.js'
import type { AutomationPageDeps } from './deps.js'
import { type AutomationFrame, frameOf } from './frame.js'
import { refusalWords } from './run-words.js'
import { wordBook } from './word-book.js'

interface StartView extends AutomationFrame {
  /** The last start. */
  last:
    | {
        name: string
        isOver: boolean
        seen: string
        /** When it will be finished at the latest, while it is under way. */
        until: string | undefined
        started: string
        perHour: string
        begun: Moment
      }
    | undefined
  whom: string
  perHour: string
  /** Which pace may be typed. */
  paceHint: string
  mostPerHour: number
  /** The choice for which this page says who would enter. */
  looked: string
  choices: { value: string; label: string }[]
  /** Who would enter, once somebody asked for it. */
  would:
    | {
        says: string
        /** How many of them have been in it before. */
        again: string | undefined
        starts: number
        refused: { people: string; why: string; who: string }[]
      }
    | undefined
  isOn: boolean
  isPaused: boolean
  /** Why it can never be started for many people. */
  never: string | undefined
  faults: Faults
}

const mostLists = 100

/** Starting an automation for a list or a segment: who would enter, and how far the last start is. Throws a 404. */
export async function showStart(
  deps: AutomationPageDeps,
  visit: Visit,
  { faults, isAsked = false }: { faults: Faults; isAsked?: boolean },
): Promise<PageAnswer> {
  const { read } = deps.store
  const { account, now, fields, person } = visit
  const found = await findAutomation(read, account.id, visit.params.id ?? '')
  const { definition } = await readDefinition(read, found.id, found.version)
  const book = await wordBook(read, account.id, [definition])
  const last = await findBackfill(read, found.id)
  const crowd = await crowdNow(read, account.id, last)
  const isDated = dateRuleOf(definition) !== undefined
  const whom = fields.get('whom') ?? ''
  const perHour = fields.get('perHour') || String(operations.usualPerHour)
  const looked = lookedMark(whom, Number(perHour))
  // Somebody wanted to start a choice without having looked: this page is the look.
  const isFit = faults.message !== undefined && Object.keys(faults.fields).length === 0
  const isUnseen = isFit && whom !== '' && fields.get('looked') !== looked
  const view: StartView = {
    ...frameOf(visit, found, { here: 'flow', definition, book }),
    last:
      last === undefined
        ? undefined
        : {
            name: crowd.name,
            isOver: last.ended_at !== null,
            seen:
              last.ended_at !== null || crowd.people === undefined
                ? shownCount(last.seen)
                : `${shownCount(last.seen)} of ${shownCount(Math.max(last.seen, crowd.people))}`,
            until:
              last.ended_at !== null || crowd.people === undefined || found.status !== 'enabled'
                ? undefined
                : `About ${exactWithZone(endOf(last, crowd.people, now), person.timeZone ?? 'UTC')}`,
            started: last.started.toLocaleString('en-GB'),
            perHour: last.per_hour.toLocaleString('en-GB'),
            begun: moment(last.created_at, now),
          },
    whom,
    perHour,
    paceHint: `A whole number from 1 to ${shownCount(operations.mostPerHour)}. The others wait their turn.`,
    mostPerHour: operations.mostPerHour,
    looked,
    choices: await crowdChoices(read, account.id),
    would:
      (isAsked || (isUnseen && found.status === 'enabled')) && !isDated
        ? await wouldEnter(deps, found, { whom, perHour })
        : undefined,
    isOn: found.status === 'enabled',
    isPaused: found.status === 'enabled' && found.paused_at !== null,
    never: isDated ? `“${found.name}” ${onTheirDay}.` : undefined,
    faults,
  }
  return page('automations/start', view, { title: `${found.name}: start for many` })
}

/** What was looked at, as the form sends it back. */
export const lookedMark = (whom: string, perHour: number): string => `${whom} ${perHour}`

/** The lists and segments to choose from; `crowdIn` reads the chosen one. */
export async function crowdChoices(
  read: Read,
  accountId: string,
): Promise<{ value: string; label: string }[]> {
  const [{ page: lists }, segments] = await Promise.all([
    listPage(read, accountId, { limit: mostLists }),
    listSegments(read, accountId),
  ])
  return [
    ...crowdOptions(
      'list',
      namedOptions(lists, (name) => `List “${name}”`),
    ),
    ...crowdOptions(
      'segment',
      namedOptions(segments, (name) => `Segment “${name}”`),
    ),
  ]
}

const crowdOptions = (kind: 'list' | 'segment', options: ReturnType<typeof namedOptions>) =>
  options.map(({ value, label }) => ({ value: `${kind}.${value}`, label }))

/** The list or segment that a form names. */
export function crowdIn(whom: string): { listId: string } | { segmentId: string } {
  const [kind, id = ''] = whom.split('.')
  return kind === 'segment' ? { segmentId: id } : { listId: id }
}

/** The list or segment of the last start, and how many are in it now; it may have been deleted. */
async function crowdNow(
  read: Read,
  accountId: string,
  row: Pick<Backfill, 'list_id' | 'is_segment'> | undefined,
): Promise<{ name: string; people: number | undefined }> {
  const found = row && (await crowdNamed(read, accountId, crowdOf(row)))
  return found ?? { name: 'one that is deleted', people: undefined }
}

/** A list or segment by its name, and how many are in it; undefined where it is deleted. */
export async function crowdNamed(
  read: Read,
  accountId: string,
  crowd: Crowd,
): Promise<{ name: string; people: number } | undefined> {
  if ('segmentId' in crowd) {
    const found = await requireSegment(read, accountId, crowd.segmentId).catch(() => undefined)
    return found && { name: found.name, people: found.count }
  }
  const found = await requireList(read, accountId, crowd.listId).catch(() => undefined)
  return found && { name: found.name, people: found.contactCount }
}

const hourMs = 3_600_000
const endOf = (last: Backfill, people: number, now: number): number =>
  Math.max(now, last.next_at) + (Math.max(0, people - last.seen) / last.per_hour) * hourMs

async function wouldEnter(
  deps: AutomationPageDeps,
  found: Awaited<ReturnType<typeof findAutomation>>,
  { whom, perHour }: { whom: string; perHour: string },
): Promise<StartView['would']> {
  const crowd = crowdIn(whom)
  const { name, seen, starts, again, refused, some, isAll } = await judgeCrowd(deps, found, crowd)
  const more = isAll ? '' : 'Of the first '
  const hours = starts / Number(perHour)
  const time = hours <= 1 ? 'within an hour' : `in about ${counted(Math.ceil(hours), 'hour')}`
  return {
    says: `${more}${counted(seen, 'person', 'people')} of “${name}”: ${counted(starts, 'person', 'people')} would enter${starts === 0 ? '' : `, ${time}`}.`,
    again:
      again === 0
        ? undefined
        : `${counted(again, 'of these has', 'of these have')} been in it before, and would go through it again.`,
    starts,
    refused: [...refused].map(([reason, count]) => ({
      people: shownCount(count),
      why: refusalWords(reason),
      who: whoOf(some.get(reason) ?? [], count),
    })),
  }
}

/** The addresses of the first few, and how many more there are. */
const whoOf = (some: readonly string[], count: number): string =>
  `${some.join(', ')}${count > some.length ? ` and ${shownCount(count - some.length)} more` : ''}`
