import {
  type Automation,
  type AutomationDefinition,
  type PeriodSteps,
  type StepStanding,
  stepsOfVersion,
} from '../../automations/index.js'
import type { Read } from '../../store/index.js'
import type { Html } from '../shell/html.js'
import { linkTo } from '../shell/listing.js'
import { type DrawnStep, drawing } from './drawing.js'
import { type FlowWay, flowGraph } from './graph.js'
import { layoutOf } from './layout.js'
import { leftStep, movedHereWords } from './left-step.js'
import { stepTitle, stepWords, type WordBook } from './words.js'

/** A step of the outline. */
export interface OutlinedStep {
  /** From 1 on. */
  number: number
  words: string
  /** Leads to the people who are at the step. */
  href: string
  present: string
  /** The same figures as in the drawing. */
  figures: string
  /** How many of those who came were moved here; undefined for none. */
  moved: string | undefined
  /**
   * What the step does, if it has a name; how many came, and what became of its mails; how many left there by none of
   * its ways; what happens where no way leads on.
   */
  says: string[]
  /** `left`: how many took that way. */
  ways: { to: number; words: string; left: string | undefined }[]
}

/** A version of an automation, as its flow is shown. */
export interface FlowView {
  drawing: Html
  steps: OutlinedStep[]
}

type Counts = NonNullable<StepStanding['counts']>

/** The flow of a version, as a drawing and an outline, with how many people are where. */
export async function flowView(
  read: Read,
  automation: Automation,
  version: { number: number; definition: AutomationDefinition },
  {
    book,
    page,
    now,
    period,
  }: { book: WordBook; page: string; now: number; period?: PeriodSteps | undefined },
): Promise<FlowView> {
  const { definition } = version
  const graph = flowGraph(definition)
  const name = `${automation.id} ${version.number} ${automation.updated_at}`
  const found = await stepsOfVersion(read, automation, version.number, now)
  const standing = new Map(found.map((step) => [step.key, step]))
  const texts = graph.steps.map((step) => stepTitle(step, book, definition))
  const steps = graph.steps.map((step, at): OutlinedStep => {
    const { key, type } = step
    const stands = standing.get(key)
    const { present, counts, ways: taken, left, moved } = countsOf(stands, period)
    const isMore = period === undefined && stands?.isMore === true
    const here = present === 0 ? '' : `${isMore ? 'at least ' : ''}${shown(present)} here now`
    const movedHere = counts === null ? undefined : movedHereWords(counts)
    // How many of the people here now were moved is known only where everybody who came was moved.
    const isOfAll = present > 0 && counts !== null && counts.moved_here >= counts.entered
    const ways = graph.ways.filter(({ from }) => from === at)
    return {
      number: at + 1,
      words: texts[at] ?? key,
      href: linkTo(`${page}/runs`, { show: 'live', step: key, version: String(version.number) }),
      present: here,
      figures: isOfAll && movedHere !== undefined ? `${here}, ${movedHere}` : here,
      moved: movedHere,
      says: [
        step.name === undefined ? undefined : stepWords(step, book, definition),
        counts === null || type === 'trigger' ? undefined : cameWords(counts),
        counts === null || type !== 'send_email' ? undefined : mailWords(counts, taken),
        left === 0 || isMore ? undefined : `${shown(left)} left here`,
        moved === 0 ? undefined : `${shown(moved)} moved to another version`,
        endOf(type, ways.length),
      ].filter((one) => one !== undefined),
      ways: ways.map((way) => ({
        to: way.to + 1,
        words: wayWords(way),
        left: leftBy(way, { counts, taken }, ways.length),
      })),
    }
  })
  const drawn = steps.map(
    ({ words, figures, href, moved }): DrawnStep => ({ words, figures, href, more: moved }),
  )
  const taken = steps.flatMap(({ ways }) => ways.map(({ left }) => left))
  return { drawing: drawing(graph, layoutOf(graph, name), drawn, taken), steps }
}

function cameWords(counts: Counts): string {
  const moved = movedHereWords(counts)
  return `${shown(counts.entered)} came here${moved === undefined ? '' : `, ${moved}`}`
}

/** Without a way on, whoever would take it is finished. */
function endOf(type: string, ways: number): string | undefined {
  if (type === 'exit') return undefined
  if (ways === 0) return 'It ends here'
  const isForked = type === 'condition' || type === 'wait_for_event'
  return isForked && ways === 1 ? 'Otherwise it ends here' : undefined
}

const shown = (count: number) => count.toLocaleString('en-GB')

// A branch has its author's name.
const wayWords = ({ words, name }: FlowWay) =>
  words === undefined ? 'Then' : name.startsWith('branch:') ? words : capital(words)
const capital = (words: string) => words.charAt(0).toUpperCase() + words.slice(1)

interface StepCounts {
  present: number
  counts: Counts | null
  /** For a period: how many left by each way. */
  ways: ReadonlyMap<string, number> | undefined
  left: number
  moved: number
}

/** What has happened at a step: since its version was turned on, or to those who began in a period. */
function countsOf(stands: StepStanding | undefined, period: PeriodSteps | undefined): StepCounts {
  const { type = 'trigger', counts = null, present = 0 } = stands ?? {}
  if (period === undefined || counts === null) {
    const { left = 0, moved = 0 } = leftStep({ type, counts, present }) ?? {}
    return { present, counts, ways: undefined, left, moved }
  }
  const found = period.steps.get(counts.id)
  const ways = found?.ways ?? new Map<string, number>()
  const on = [...ways.values()].reduce((sum, count) => sum + count, 0)
  const { entered = 0, mails = 0, present: here = 0 } = found ?? {}
  const left = type === 'trigger' ? 0 : Math.max(0, entered - here - on)
  // The histories of a period tell only who came by ways.
  const came = { ...counts, entered, mails, moved_here: 0 }
  return { present: here, counts: came, ways, left, moved: 0 }
}

/** How many left a step by a way; undefined where the counters do not tell. */
function leftBy(
  { name }: FlowWay,
  { counts, taken }: { counts: Counts | null; taken: ReadonlyMap<string, number> | undefined },
  among: number,
): string | undefined {
  if (counts === null) return undefined
  const column = columns[name]
  if (taken !== undefined) {
    const count = taken.get(column ?? name)
    if (column !== undefined || name.startsWith('branch:')) return shown(count ?? 0)
    return shown((taken.get('done') ?? 0) + (taken.get('skipped') ?? 0))
  }
  if (column !== undefined) return shown(counts[column])
  return among === 1 ? shown(counts.done + counts.skipped) : undefined
}

const columns: Readonly<
  Record<string, keyof Counts & ('met' | 'not_met' | 'received' | 'timed_out')>
> = {
  condition_met: 'met',
  condition_not_met: 'not_met',
  event_received: 'received',
  timeout: 'timed_out',
}

// Opens are counted with the mails, not in the histories of a period.
const mailWords = ({ mails, opened, clicked }: Counts, taken: object | undefined) =>
  taken === undefined
    ? `${shown(mails)} sent, ${shown(opened)} opened, ${shown(clicked)} clicked`
    : `${shown(mails)} sent`
