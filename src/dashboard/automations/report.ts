import {
  type BegunDay,
  begunByDay,
  findAutomation,
  readDefinition,
  stepsOfVersion,
  versionsShown,
} from '../../automations/index.js'
import { type PageAnswer, page } from '../shell/answer.js'
import type { Chart } from '../shell/chart.js'
import type { Visit } from '../shell/visit.js'
import type { AutomationPageDeps } from './deps.js'
import { endFigures, endLabels, hasGoal, whoLeft } from './end-figures.js'
import { type AutomationFrame, frameOf } from './frame.js'
import { flowGraph } from './graph.js'
import { leftStep, movedHereWords } from './left-step.js'
import { type Period, periodChoices, periodIn } from './periods.js'
import { wordBook } from './word-book.js'
import { titlesApart } from './words.js'

interface ReportView extends AutomationFrame {
  chart: Chart | undefined
  period: string
  periods: { value: string; label: string }[]
  figures: { label: string; value: string }[]
  /** Which people the figures count as having left. */
  whoLeft: string
  versions: {
    name: string
    rows: { step: string; cells: string[] }[]
    /** All steps: how many came, are there, went on and left there. */
    steps: { step: string; cells: string[] }[]
  }[]
}

/** What became of the mails of an automation, step by step, for each version. Throws a 404. */
export async function showAutomationReport(
  { store: { read } }: AutomationPageDeps,
  visit: Visit,
): Promise<PageAnswer> {
  const { account, now } = visit
  const found = await findAutomation(read, account.id, visit.params.id ?? '')
  const { definition } = await readDefinition(read, found.id, found.version)
  const book = await wordBook(read, account.id, [definition])
  const versions: ReportView['versions'] = []
  for (const { version, frozen_at } of await versionsShown(read, found)) {
    if (frozen_at === null) continue
    const of = await readDefinition(read, found.id, version)
    const called = titlesApart(of.definition, book)
    const stands = await stepsOfVersion(read, found, version, now)
    const standing = new Map(stands.map((step) => [step.key, step.counts]))
    const rows = flowGraph(of.definition).steps.flatMap((step) => {
      const counts = standing.get(step.key)
      if (step.type !== 'send_email' || !counts) return []
      const { mails, skipped, delivered, bounced, opened, clicked, unsubscribed } = counts
      const share = (count: number) => withShare(count, delivered)
      return [
        {
          step: called(step.key),
          cells: [
            shown(mails),
            shown(skipped),
            shown(delivered),
            share(opened),
            share(clicked),
            shown(bounced),
            shown(unsubscribed),
          ],
        },
      ]
    })
    const steps = flowGraph(of.definition).steps.flatMap((step) => {
      const stand = stands.find(({ key }) => key === step.key)
      const left = stand && leftStep(stand)
      if (stand?.counts == null || left === undefined) return []
      const moved = movedHereWords(stand.counts)
      const came = `${shown(stand.counts.entered)}${moved === undefined ? '' : `, ${moved}`}`
      const cells = [came, ...[stand.present, left.on, left.left, left.moved].map(shown)]
      return [{ step: called(step.key), cells }]
    })
    versions.push({ name: `Version ${version}`, rows, steps })
  }
  const period = periodIn(visit.query, '30') ?? usualPeriod
  const begun = await begunByDay(read, found.id, { ...period, now })
  const entered = found.completed + found.exited + found.failed + found.cancelled
  const view: ReportView = {
    ...frameOf(visit, found, { here: 'report', definition, book }),
    figures: [
      { label: 'People who ever entered', value: shown(found.enrolled) },
      { label: 'Times it began', value: shown(entered + found.running + found.waiting) },
      ...(hasGoal(found, definition)
        ? [
            {
              label: 'Reached the goal',
              value: withShare(found.reached, entered + found.running + found.waiting),
            },
          ]
        : []),
      { label: 'In it now', value: shown(found.running + found.waiting) },
      ...endFigures(found),
    ],
    whoLeft,
    versions,
    chart: chartOf(begun, period),
    period: period.value,
    periods: periodChoices,
  }
  return page('automations/report', view, { title: `${found.name}: report` })
}

const usualPeriod: Period = { value: '30', label: 'Last 30 days', days: 30, each: 1 }

/** How many began on each day or in each week, by where they are now. Undefined where nobody did. */
function chartOf(begun: readonly BegunDay[], { label, each }: Period): Chart | undefined {
  if (begun.every(({ live, through, meant, left }) => live + through + meant + left === 0))
    return undefined
  const format = new Intl.DateTimeFormat('en-GB', {
    day: 'numeric',
    month: 'short',
    // The days are counted in UTC.
    timeZone: 'UTC',
  })
  return {
    title: `Who began in the ${label.toLowerCase()}${each === 1 ? '' : ', by weeks'}, and where they are now`,
    kind: 'bars',
    labels: begun.map(({ at }) => format.format(at)),
    series: [
      { label: 'In it now', tone: 'c1', values: begun.map((day) => day.live) },
      {
        label: 'Came to the end, or a step ended it',
        tone: 'c2',
        values: begun.map((day) => day.through),
      },
      {
        label: 'Reached the goal, or an event ended it',
        tone: 'c4',
        values: begun.map((day) => day.meant),
      },
      { label: endLabels.left, tone: 'c3', values: begun.map((day) => day.left) },
    ],
  }
}

const shown = (count: number) => count.toLocaleString('en-GB')

const withShare = (count: number, of: number) =>
  of === 0 ? shown(count) : `${shown(count)} (${Math.round((count / of) * 1_000) / 10} %)`
