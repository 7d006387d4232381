// How long the pages about automations take with many live and ended runs: `node dist/test/bench/automation-pages.js [RUNS]`.
import t from 'tap'
import {
  begunByDay,
  endReasons,
  findAutomation,
  findRuns,
  previewCohort,
  type RunsFilter,
  readDefinition,
  stepsOfPeriod,
} from '../../src/automations/index.js'
import { addContact } from '../../src/contacts/index.js'
import { flowView } from '../../src/dashboard/automations/flow.js'
import { flowGraph } from '../../src/dashboard/automations/graph.js'
import { layoutOf } from '../../src/dashboard/automations/layout.js'
import { delay, send, trigger } from '../support/automation-rig.js'
import { openAutomationShell } from '../support/automation-shell.js'
import { endedRow, runId, waitingRow } from '../support/run-rows.js'
import { loadAverage, quantile, rsaSignatures } from './rig.js'

t.setTimeout(1_200_000)
const runs = Number(process.argv[2] ?? 1_000_000)
const steps = [trigger(), ...Array.from({ length: 99 }, (_, n) => delay(`d${n}`, 'P1D'))]
await t.test('pages about automations', async (t) => {
  const rig = await openAutomationShell(t)
  const id = await rig.enabled(steps)
  const { id: first } = await rig.store.read
    .selectFrom('automation_steps')
    .select('id')
    .orderBy('id')
    .limit(1)
    .executeTakeFirstOrThrow()
  const perWrite = 500
  for (let at = 0; at < runs; at += perWrite) {
    const numbers = Array.from({ length: perWrite }, (_, n) => at + n)
    await rig.store.write(async (tx) => {
      const of = { account_id: rig.accountId, automation_id: id }
      const live = numbers.map((n) =>
        waitingRow(of, 2 * n, {
          step_id: first + 1 + (n % 99),
          ...(n % 100_000 === 0 ? { blocked: 'quota' } : {}),
        }),
      )
      await tx.insertInto('automation_live').values(live).execute()
      const ended = numbers.map((n) =>
        endedRow(of, 2 * n + 1, {
          step_id: first + 1,
          status: 'exited' as const,
          reason: n % 100_000 === 7 ? 'complained' : 'unsubscribed',
        }),
      )
      await tx.insertInto('automation_runs').values(ended).execute()
    })
  }
  await rig.store.write((tx) => tx.updateTable('automations').set({ waiting: runs }).execute())

  const { read } = rig.store
  const automation = await findAutomation(read, rig.accountId, id)
  const { definition } = await readDefinition(read, id, 1)
  const book = { names: new Map(), fields: [] }
  const view = async (anew = 0) => {
    const around = { book, page: '/a/x/automations/y', now: rig.clock.now() + anew * 10_000 }
    const asked = { ...automation, updated_at: automation.updated_at + anew }
    return await flowView(read, asked, { number: 1, definition }, around)
  }

  /** The middle and the p99 of some times in ms: by the clock, and of the processor, of which others take nothing. */
  async function timed(name: string, times: number, work: () => Promise<unknown>) {
    const took: number[] = []
    const used: number[] = []
    for (let n = 0; n < times; n++) {
      const begun = performance.now()
      const before = process.cpuUsage()
      await work()
      const { user, system } = process.cpuUsage(before)
      used.push((user + system) / 1_000)
      took.push(performance.now() - begun)
    }
    const said = (values: readonly number[]) =>
      `median ${quantile(values, 0.5).toFixed(1)} ms, p99 ${quantile(values, 0.99).toFixed(1)} ms`
    t.comment(`${name}: ${said(took)}; of the processor ${said(used)}; n ${times}`)
  }

  await timed('flow of 100 steps, the first of a process', 1, () => view())
  let anew = 0
  await timed('flow of 100 steps, cold: drawn and counted anew', 20, () => view(++anew))
  await timed('its drawing alone, each time anew', 50, async () =>
    layoutOf(flowGraph(definition), crypto.randomUUID()),
  )
  await timed('flow of 100 steps, kept', 200, () => view(anew))
  const { drawing, steps: outlined } = await view()
  t.comment(`drawing ${drawing.text.length} bytes, ${outlined.length} steps`)
  await timed('the whole page of the flow over HTTP, kept', 200, () => rig.page(`/${id}`))
  await timed('the page of its people over HTTP', 200, () => rig.page(`/${id}/runs`))
  const asked = { limit: 25 }
  const filters: Record<string, RunsFilter> = {
    'a rare reason': { statuses: ['exited'], reason: 'complained' },
    'a step': { statuses: ['running', 'waiting'], stepIds: [first + 50] },
    'blocked for a rare reason': { wait: 'quota' },
    everybody: { statuses: ['running', 'waiting', 'completed', 'exited'] },
  }
  for (const [name, filter] of Object.entries(filters)) {
    const { runs: found } = await findRuns(read, id, filter, asked)
    t.ok(found.length > 0, name)
    await timed(`people: ${name}`, 500, () => findRuns(read, id, filter, asked))
  }
  await timed('who began on which day (all on one)', 3, () =>
    begunByDay(read, id, { days: 1, now: 0x019b00000000 }),
  )
  await timed('why runs have ended', 500, () => endReasons(read, id))
  await timed('flow of those who began in a period (the latest 5,000)', 5, () =>
    stepsOfPeriod(read, id, { version: 1, from: 0x019b00000000 - 1 }),
  )

  // An account that has used up its mails: all who are at every other step wait for that.
  await rig.store.write((tx) =>
    tx
      .updateTable('automation_live')
      .set({ blocked: 'quota' })
      .where('automation_id', '=', id)
      .where('id', '<', runId(runs))
      .execute(),
  )
  await timed('the page of the flow, half of them blocked, the first time', 1, () =>
    rig.page(`/${id}`),
  )
  await timed('the same again, and again', 200, () => rig.page(`/${id}`))

  // Walking for real people, as the page does it for a list: waits and mails in turn.
  const people = 100
  for (let n = 0; n < people; n++) {
    await addContact(rig, rig.accountId, { email: `p${n}@x.test` }, { listId: rig.listId })
  }
  const series = Array.from({ length: 98 }, (_, n) =>
    n % 2 === 0 ? delay(`w${n}`, 'P1D') : send(`m${n}`),
  )
  const long = await rig.create([trigger(), ...series], {}, 'Long')
  const short = await rig.create([trigger(), send('a'), delay('b', 'P3D'), send('c')], {}, 'Short')
  for (const [name, one] of Object.entries({ 'of 99 steps': long, 'of 4 steps': short })) {
    await timed(`trying it for ${people} people, an automation ${name}`, 10, () =>
      previewCohort(
        { ...rig.deps, tracking: undefined },
        rig.accountId,
        one,
        { listId: rig.listId },
        {},
      ),
    )
  }
  t.comment(`RSA-2048 signatures/s ${Math.round(rsaSignatures())}, load average ${loadAverage()}`)
})
