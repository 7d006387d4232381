// Issue 47: an automation is edited and put in force, people who wait are moved, it is paused for ten days and goes on: after
// each of these the numbers on the pages are those of the rows.
import t, { type Test } from 'tap'
import { finishReleases } from '../../../src/automations/index.js'
import { silentLog } from '../../../src/log/index.js'
import { leaveRuns } from '../../../src/runs/index.js'
import { dayMs, delay, exit, passing, send, trigger, wait } from '../../support/automation-rig.js'
import { openAutomationShell } from '../../support/automation-shell.js'
import { fieldsOf } from '../../support/editor-fields.js'
import { thoroughly } from '../../support/thorough.js'

const people = thoroughly(300, 10_000)
const shown = (count: number) => count.toLocaleString('en-GB')
const named = <Step extends object>(step: Step, name: string) => ({ ...step, name })

type Pages = Awaited<ReturnType<typeof openAutomationShell>>

/** Compares what the pages say with the rows: who is where, how many began, left and came through, what was sent. */
async function agree(t: Test, { page, store: { read } }: Pages, id: string, when: string) {
  const live = await read
    .selectFrom('automation_live')
    .innerJoin('automation_steps as steps', 'steps.id', 'automation_live.step_id')
    .select(['steps.key', 'steps.version', (eb) => eb.fn.countAll<number>().as('count')])
    .where('automation_live.automation_id', '=', id)
    .groupBy(['steps.key', 'steps.version'])
    .execute()
  const ended = await read
    .selectFrom('automation_runs')
    .select(['status', (eb) => eb.fn.countAll<number>().as('count')])
    .where('automation_id', '=', id)
    .groupBy('status')
    .execute()
  const mails = await read
    .selectFrom('emails')
    .innerJoin('automation_steps as steps', 'steps.id', 'emails.automation_step_id')
    .select(['steps.version', 'steps.key', (eb) => eb.fn.countAll<number>().as('count')])
    .groupBy(['steps.version', 'steps.key'])
    .execute()
  const sum = (rows: readonly { count: number | string | bigint }[]) =>
    rows.reduce((total, { count }) => total + Number(count), 0)
  const one = (status: string) => sum(ended.filter((row) => row.status === status))
  const versions = [...new Set(live.map(({ version }) => version))]
  const flow = await page(`/${id}`)
  const figure = (html: string, label: string) =>
    new RegExp(`<dt>${label}</dt> <dd>([\\d,]+)`).exec(html)?.[1]
  t.same(
    {
      live: figure(flow, 'In it now'),
      through: figure(flow, 'Came to the end'),
      left: figure(flow, 'Left on the way'),
      everybody: figure(flow, 'People who ever entered'),
    },
    {
      live: shown(sum(live)),
      through: shown(one('completed')),
      left: shown(sum(ended) - one('completed')),
      everybody: shown(people),
    },
    `${when}: the figures`,
  )
  const report = await page(`/${id}/report`)
  for (const version of versions) {
    const outline = await page(`/${id}?version=${version}`)
    const steps = [
      ...outline.matchAll(
        /<li id="step-\d+"><a [^>]*>([^<]*)<\/a>(?: <strong>([\d,]+) here now)?/g,
      ),
    ]
    t.same(
      steps
        .flatMap(([, name = '', count]) => (count === undefined ? [] : [`${name} ${count}`]))
        .sort(),
      live
        .filter((row) => row.version === version)
        .map(({ key, count }) => `${key} ${shown(Number(count))}`)
        .sort(),
      `${when}: who is where in version ${version}`,
    )
    for (const { key, count } of live.filter((row) => row.version === version)) {
      const list = await page(`/${id}/runs?show=live&step=${key}&version=${version}`)
      t.match(
        list,
        new RegExp(`[Aa]t most ${shown(Number(count))} p`),
        `${when}: the people at ${key}`,
      )
    }
  }
  addsUp(t, report, when)
  for (const { version, key, count } of mails) {
    const of = report
      .split(`<h2 id="version-`)
      .find((part) => part.includes(`>Version ${version}<`))
    t.match(
      of,
      new RegExp(`>${key}</t[dh]><td[^>]*>${shown(Number(count))}<`),
      `${when}: mails of ${key}`,
    )
  }
}

/** Whoever began is in it or has ended, and whoever came to a step is there, went on, left there or was moved away. */
function addsUp(t: Test, report: string, when: string) {
  const number = (text = '') => Number(text.replaceAll(',', ''))
  const figures = new Map(
    [...report.matchAll(/<dt>([^<]+)<\/dt> <dd>([\d,]+)/g)].map(([, label = '', count]) => [
      label,
      number(count),
    ]),
  )
  const whole = ['In it now', 'Came to the end', 'Ended by a step', 'Ended by an event']
  const ended = [...whole, 'Ended at the goal', 'Left on the way']
  const sum = ended.reduce((all, label) => all + (figures.get(label) ?? 0), 0)
  t.equal(sum, figures.get('Times it began'), `${when}: the figures add up`)
  let steps = 0
  for (const [, people = ''] of report.matchAll(/step by step<\/caption>([\s\S]*?)<\/table>/g)) {
    for (const [row] of people.matchAll(/<tr>(?:(?!<\/tr>)[\s\S])*<\/td>(?:(?!<\/tr>)[\s\S])*/g)) {
      const cells = [...row.matchAll(/<t[dh][^>]*>([\d,]+)(?:, [^<]*)?<\/t[dh]>/g)]
      const [came, ...became] = cells.map(([, count]) => number(count))
      t.equal(became.length, 4, row)
      t.equal(
        became.reduce((all, one) => all + one, 0),
        came,
        `${when}: ${row}`,
      )
      steps += 1
    }
  }
  t.ok(steps > 0)
}

t.test('the numbers on the pages are those of the rows', async (t) => {
  const rig = await openAutomationShell(t)
  const { page, press, clock, store } = rig
  const id = await rig.enabled([
    named(trigger(), 'start'),
    named(send('hello'), 'hello'),
    named(delay('first', 'P5D'), 'first'),
    named(send('later'), 'later'),
    named(delay('last', 'P30D'), 'last'),
  ])
  await rig.begin(people)
  await rig.work()
  await agree(t, rig, id, 'begun')

  const open = fieldsOf(await page(`/${id}/edit`))
  const outline = open.outline?.replace('"P5D"', '"P8D"').replaceAll('\r\n', '\n') ?? ''
  await press(`/${id}/edit`, { ...open, outline })
  const check = await page(`/${id}/enable`)
  t.match(check, new RegExp(`${shown(people)} people are in an older version`))
  await press(`/${id}/enable`, { revision: fieldsIn(check, 'revision') })
  await agree(t, rig, id, 'enabled anew')
  t.match(
    await page(`/${id}/move`),
    new RegExp(`${shown(people)} people would go on by the steps of version 2`),
  )
  await press(`/${id}/move`, { version: '2' })
  t.match(await page(`/${id}/move`), 'Nobody would move')
  await agree(t, rig, id, 'moved')
  const moved = await page(`/${id}/report`)
  t.match(moved, new RegExp(`>${shown(people)}, all by a move<`))
  t.match(moved, new RegExp(`>0</td><td[^>]*>0</td><td[^>]*>0</td><td[^>]*>${shown(people)}</td>`))
  t.match(await page(`/${id}?version=1`), `${shown(people)} moved to another version`)

  await clock.advance(dayMs)
  await press(`/${id}/pause`)
  await clock.advance(10 * dayMs)
  await rig.work()
  await agree(t, rig, id, 'paused for ten days')
  const resume = await page(`/${id}/resume`)
  t.match(resume, new RegExp(`${shown(people)} people are held`))
  t.match(resume, new RegExp(`Catch up now[\\s\\S]*Sends up to ${shown(people)} mails at once`))
  await press(`/${id}/resume`, { overdue: 'shift' })
  await clock.advance(11_000)
  await passing(clock, finishReleases({ ...rig, log: silentLog }, new AbortController().signal))
  const held = await store.read
    .selectFrom('automation_live')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('held_at', 'is not', null)
    .executeTakeFirstOrThrow()
  t.equal(Number(held.count), 0)
  await rig.work()
  await agree(t, rig, id, 'goes on')
  await clock.advance(4 * dayMs)
  await rig.work()
  await agree(t, rig, id, 'the wait is over')
  await clock.advance(31 * dayMs)
  await rig.work()
  await agree(t, rig, id, 'at the end')
})

t.test('whom a step, an event or the goal has ended is told apart from who has left', async (t) => {
  const rig = await openAutomationShell(t)
  const { page } = rig
  const steps = [trigger(), wait('heard', 'paid', { timeout: 'P1D' }), exit('bought')]
  const settings = { exitOn: [{ eventName: 'moved' }], goal: { eventName: 'done' } }
  const id = await rig.enabled(steps, { settings })
  await rig.begin(7)
  await rig.work()
  const does = (n: number, event: string) => rig.event({ event, email: `p${n}@example.com` })
  await does(0, 'paid')
  await does(1, 'paid')
  await does(2, 'moved')
  await does(3, 'done')
  await rig.work()
  await rig.store.write((tx) =>
    leaveRuns(tx, rig.accountId, {
      address: 'p4@example.com',
      reason: 'unsubscribed',
      at: rig.clock.now(),
    }),
  )
  await rig.pass(dayMs + 60_000)
  await rig.counted(id)
  const told = async (path: string) =>
    [...(await page(path)).matchAll(/<dt>([^<]+)<\/dt> <dd>([\d,]+)/g)].map(
      ([, label, value]) => `${label} ${value}`,
    )
  for (const path of [`/${id}`, `/${id}/report`]) {
    const figures = await told(path)
    for (const wanted of [
      'Came to the end 0',
      // Two have paid, and two have waited in vain.
      'Ended by a step 4',
      'Ended by an event 1',
      'Reached the goal 1',
      'Ended at the goal 1',
      'Left on the way 1',
    ])
      t.ok(figures.includes(wanted), `${path}: ${wanted} of ${figures.join('; ')}`)
  }
  addsUp(t, await page(`/${id}/report`), 'ended')
  t.match(await page(''), /<td[^>]*>0<\/td><td[^>]*>4<\/td><td[^>]*>1</)
  for (const [show, who] of Object.entries({
    ended: [0, 1, 5, 6],
    event: [2],
    goal: [3],
    exited: [4],
  })) {
    const list = await page(`/${id}/runs?show=${show}`)
    const shown = [...list.matchAll(/>p(\d)@example\.com<\/a>/g)].map(([, n]) => Number(n))
    t.same(shown.sort(), who, show)
    const asked = await page(`/${id}/runs?show=${show}&who=p${who[0]}%40example.com`)
    t.match(asked, `>p${who[0]}@example.com</a>`, `${show}, of one person`)
  }
  t.match(await page(`/${id}/runs?show=ended&why=exited.exit_step`), '>p1@example.com</a>')
  t.notMatch(await page(`/${id}/runs?show=goal&why=exited.exit_step`), '@example.com</a>')
  t.equal((await rig.automation(id)).exited, 7, 'the API has them as ever')
})

const fieldsIn = (html: string, name: string) =>
  new RegExp(`name="${name}" value="([^"]*)"`).exec(html)?.[1] ?? ''
