import {
  type Automation,
  type AutomationDefinition,
  type StepStanding,
  stepsOfVersion,
} from '../../automations/index.js'
import type { Read } from '../../store/index.js'
import type { Html } from '../shell/html.js'
import { linkTo } from '../shell/listing.js'
import { type DrawnStep, drawing } from './drawing.js'
import { type FlowWay, flowGraph } from './graph.js'
import { layoutOf } from './layout.js'
import { leftStep } from './left-step.js'
import { stepTitle, stepWords, type WordBook } from './words.js'

/** A step of the outline. */
export interface OutlinedStep {
  /** From 1 on. */
  number: number
  words: string
  /** What it does, where it has a name. */
  does: string | undefined
  /** To the people who are there. */
  href: string
  present: string
  entered: string | undefined
  /** Who left there by none of its ways; undefined where nobody did. */
  left: string | undefined
  mails: string | undefined
  ways: { to: number; words: string; left: string | undefined }[]
  /** What happens where no way leads on. */
  end: string | undefined
}

/** A version of an automation as its flow is shown. */
export interface FlowView {
  drawing: Html
  steps: OutlinedStep[]
}

type Counts = NonNullable<StepStanding['counts']>

/** The flow of a version, drawn and as an outline, with who is where. */
export async function flowView(
  read: Read,
  automation: Automation,
  version: { number: number; definition: AutomationDefinition },
  { book, page, now }: { book: WordBook; page: string; now: number },
): Promise<FlowView> {
  const { definition } = version
  const graph = flowGraph(definition)
  const name = `${automation.id} ${version.number} ${automation.updated_at}`
  const found = await stepsOfVersion(read, automation, version.number, now)
  const standing = new Map(found.map((step) => [step.key, step]))
  const texts = graph.steps.map((step) => stepTitle(step, book, definition))
  const steps = graph.steps.map((step, at): OutlinedStep => {
    const { key, type } = step
    const { present = 0, counts = null } = standing.get(key) ?? {}
    const { left = 0 } = leftStep({ type, counts, present }) ?? {}
    const ways = graph.ways.filter(({ from }) => from === at)
    return {
      number: at + 1,
      words: texts[at] ?? key,
      does: step.name === undefined ? undefined : stepWords(step, book, definition),
      href: linkTo(`${page}/runs`, { show: `step.${key}`, version: String(version.number) }),
      present: present === 0 ? '' : `${shown(present)} here now`,
      entered: counts === null || type === 'trigger' ? undefined : shown(counts.entered),
      left: left === 0 ? undefined : `${shown(left)} left here, or were moved`,
      mails: counts === null || type !== 'send_email' ? undefined : mailWords(counts),
      ways: ways.map((way) => ({
        to: way.to + 1,
        words: wayWords(way),
        left: leftBy(way, counts, ways.length),
      })),
      end: endOf(type, ways.length),
    }
  })
  const drawn = steps.map(
    ({ words, present, href }): DrawnStep => ({ words, figures: present, href }),
  )
  return { drawing: drawing(graph, layoutOf(graph, name), drawn), steps }
}

/** Where a step lacks a way, whoever would take it is through. */
function endOf(type: string, ways: number): string | undefined {
  if (type === 'exit') return undefined
  if (ways === 0) return 'It ends here'
  const isForked = type === 'condition' || type === 'wait_for_event'
  return isForked && ways === 1 ? 'Otherwise it ends here' : undefined
}

const shown = (count: number) => count.toLocaleString('en-GB')

// A branch is called as its author has it.
const wayWords = ({ words, name }: FlowWay) =>
  words === undefined ? 'Then' : name.startsWith('branch:') ? words : capital(words)
const capital = (words: string) => words.charAt(0).toUpperCase() + words.slice(1)

/** How many left a step by a way; undefined where the counters do not tell it. */
function leftBy({ name }: FlowWay, counts: Counts | null, among: number): string | undefined {
  if (counts === null) return undefined
  const column = columns[name]
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

const mailWords = ({ mails, opened, clicked }: Counts) =>
  `${shown(mails)} sent, ${shown(opened)} opened, ${shown(clicked)} clicked`
