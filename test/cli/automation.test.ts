import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { holdOverdueRuns } from '../../src/automations/index.js'
import { dayMs, delay, hourMs, openEngine, send, trigger, wait } from '../support/automation-rig.js'
import { FakeClock } from '../support/clock.js'
import { openTestStore } from '../support/store.js'
import { openPlace } from './place.js'

// Each step is a command on a machine that may have other work.
t.setTimeout(300_000)

const nobody = '01900000-0000-7000-8000-000000000000'

/** An account in a data directory, with an engine whose clock stood still for three days. */
async function openOperated(t: Parameters<typeof openPlace>[0]) {
  const place = await openPlace(t)
  const { id: accountId } = await place.json<{ id: string }>('account', 'create', 'City')
  const clock = new FakeClock(Date.now() - 3 * dayMs)
  const store = await openTestStore(t, { dataDir: place.data, slot: 14, clock })
  const rig = await openEngine(t, { clock, store, accountId })
  return { ...place, rig, accountId }
}

t.test('automations are listed, shown, enabled, paused, resumed and archived', async (t) => {
  const { run, json, refused, rig, accountId } = await openOperated(t)
  t.match(await run('automation', 'list'), { stdout: 'No automation yet\n' })
  await refused(/No automation x; 'posthorn automation list'/, 'automation', 'show', 'x')
  await refused(/No run x; 'posthorn automation runs/, 'automation', 'why', 'x')

  const steps = [trigger(), delay('first', 'P1D'), send('one'), wait('paid', 'order.paid')]
  const id = await rig.create(steps)
  t.match((await run('automation', 'show', id)).stdout, /\n1 +first +delay +0 +- +-/)
  t.match(await run('automation', 'enable', 'Welcome'), {
    stdout: 'Enabled: its event starts runs of version 1 from now on\n',
  })
  const runId = await rig.start()
  await rig.work()
  await rig.start({ email: 'bob@example.com' })
  t.match(await json('automation', 'list'), {
    automations: [{ id, name: 'Welcome', status: 'enabled', runs: { running: 1, waiting: 1 } }],
    hasMore: false,
    nextCursor: null,
  })
  t.match(
    (await run('automation', 'list')).stdout,
    /^ID +STATUS.+\n\S+ +enabled +1 +1 .+Welcome\n$/,
  )

  const shown = await run('automation', 'show', 'Welcome')
  t.match(shown.stdout, /\nBegins with +\S+\n/)
  t.match(shown.stdout, /\nContacts +2 have entered\nRunning +1\nWaiting +1\n/)
  t.match(shown.stdout, /\n1 +start +trigger +1 +2 +0 +0 +- .+\n1 +first +delay +1 +1 +0 +0 +-/)
  t.match(await json('automation', 'show', id), {
    accountId,
    steps: { length: 4 },
    standing: [{ key: 'start', entered: 2, present: 1 }, { key: 'first' }, {}, {}],
    waits: [],
  })
  const why = await run('automation', 'why', runId)
  t.match(why.stdout, /\nWhy +is about to go on at `first`\n/, 'its delay has run out meanwhile')
  t.match(why.stdout, /\n\S+ \S+ UTC +start +started\n/)

  t.match(await run('automation', 'pause', id), {
    stdout: /^Paused: no run takes a step \(2 runs under way\)/,
  })
  t.match(await run('automation', 'why', runId), {
    stdout: /\nWhy .+; but the automation is paused since /,
  })
  t.match(await run('automation', 'list'), { stdout: /enabled, paused/ })
  t.match(await json('automation', 'resume', id), { status: 'enabled', released: 2 })
  await refused(/not paused, and none of its runs is held/, 'automation', 'resume', id)
  t.match(await json('automation', 'runs', id, '--status', 'waiting'), { runs: [{ id: runId }] })
  const history = await json<{ history: object[] }>('automation', 'why', runId)
  t.match(history.history.at(-1), { step: 'first', result: 'released:shift' })

  t.match(await run('automation', 'disable', id), { stdout: /2 runs under way will finish\n$/ })
  t.match(await run('automation', 'archive', id, '--yes'), { stdout: /^Archived: all of its runs/ })
  t.match((await run('automation', 'runs', id)).stdout, /cancelled .+: the automation was archived/)
  t.match(await run('automation', 'runs', id, '--status', 'failed'), { stdout: 'No run\n' })
  await refused(/is archived/, 'automation', 'enable', id)
  await refused(/No run/, 'automation', 'why', nobody)
  t.match(await run('automation', 'runs', id, '--status', 'asleep'), { status: 2 })
})

t.test('saving a template says which runs get it, and what it needs that they lack', async (t) => {
  const { run, json, rig, data } = await openOperated(t)
  const html = join(data, 'new.html')
  const put = ['template', 'put', 'hello', '--html', html]
  const id = await rig.enabled([
    trigger(),
    delay('first', 'P1D'),
    send('one', { variables: { code: 'A1' } }),
    send('old', { templateVersion: 1 }),
  ])
  await rig.enabled([trigger('other'), send('pinned', { templateVersion: 1 })], {}, 'Pinned')
  await rig.start()
  await rig.start({ email: 'bob@example.com' })

  writeFileSync(html, '<p>{{ code }} {{ contact.firstName }}</p>')
  t.match(await run(...put), {
    stdout:
      /^hello is saved as version 2\.\nAutomation "Welcome" sends it: 2 live runs, and those to come, get this version\.\n$/,
    stderr: '',
  })
  writeFileSync(html, '<p>{{ code }} {{ town }}</p>')
  t.match(await run(...put), {
    status: 0,
    stdout: /Automation "Welcome" sends it: 2 live runs/,
    stderr:
      /^warning: automation "Welcome", step "one": Template "hello" needs "town", which this step does not know: .+\n$/,
  })
  t.match(await json(...put), {
    version: 4,
    automations: [{ id, name: 'Welcome', liveRuns: 2, warnings: [{ key: 'one' }] }],
  })
})

t.test('an automation whose name another has too is named by its id', async (t) => {
  const { refused, json, rig } = await openOperated(t)
  const id = await rig.create([trigger(), delay('first', 'P1D')])
  await rig.create([trigger(), delay('first', 'P2D')])
  await refused(
    /Several automations have this name.+\n {2}\S+ {2}disabled/,
    'automation',
    'show',
    'Welcome',
  )
  t.match(await json('automation', 'show', id.toUpperCase()), { id })
})

t.test('runs held after a restore are listed with what is held, and released', async (t) => {
  const { run, json, rig, accountId } = await openOperated(t)
  const id = await rig.enabled([trigger(), delay('first', 'P1D'), send('one')])
  const runId = await rig.start()
  await rig.work()
  await rig.clock.advance(3 * dayMs)
  t.equal(await holdOverdueRuns(rig), 1)
  const held = await run('queue', 'held')
  t.match(held.stdout, /\nHELD RUNS +AUTOMATION.+\n1 +\S+ +Welcome .+ UTC +overdue by more than/)
  t.match(held.stderr, /posthorn automation resume ID --overdue shift\|now\|skip/)
  t.match(await json('queue', 'held', '--account', accountId), {
    deliveries: [],
    campaigns: [],
    runs: [{ automationId: id, name: 'Welcome', runs: 1, reason: /^overdue/ }],
  })
  t.match(await json('queue', 'held', '--domain', 'example.com'), { runs: [] }, 'of mails alone')
  t.match(await run('automation', 'show', id), {
    stdout: /\nRUNS +STATE +WHY\n1 +held +overdue by more than an hour/,
    stderr: /releases what is held/,
  })
  t.match((await run('automation', 'why', runId)).stdout, /is held at `first`/)
  t.match(await run('automation', 'resume', 'Welcome', '--overdue', 'now'), {
    stdout: /^It goes on; 1 run released/,
  })
  // The command's clock is the system's, which has gone on since the test's began.
  await rig.clock.advance(hourMs)
  await rig.work()
  t.equal((await rig.mails()).length, 1)
  t.match((await run('automation', 'why', runId)).stdout, /\nStatus +completed\n/)
})

t.test('runs are moved, started over a list, and walked through without a trace', async (t) => {
  const { run, json, refused, misused, rig } = await openOperated(t)
  const steps = [trigger(), delay('first', 'P9D'), send('one', { subject: 'Hi {{ event.n }}' })]
  const id = await rig.enabled(steps)
  await rig.add('ann@example.com')
  await rig.start()
  await rig.work()
  const walked = [
    'automation',
    'walk',
    'Welcome',
    '--email',
    'zoe@example.com',
    '--payload',
    '{"n":7}',
  ]
  const at = ['--at', '2026-12-01T09:00:00Z']
  t.match(
    (await run(...walked, ...at)).stdout,
    /\n2026-12-10 09:00 UTC +one +sent +Hi 7\n2026-12-10 09:00 UTC: completed\n$/,
  )
  const short = ['--until', '2026-12-02T09:00:00Z']
  t.match((await run(...walked, ...at, ...short)).stdout, /\nIt is at first then, until 2026-12-10/)
  t.match(await json(...walked, '--event', 'signup@+1d', '--opens', 'one@+2h'), {
    refused: [{ reason: 'already_running' }],
  })
  await refused(/--event: .+ is not a time/, ...walked, '--event', 'x@soon')
  for (const [option, given, expected] of [
    ['--opens', 'ONE', /--opens <step>.* 'ONE' is invalid\. It must be the key of a step/],
    ['--payload', '[]', /--payload <json>.* It must be a JSON object/],
    ['--at', 'noon', /--at <time>.* It must be a time such as/],
  ] as const) {
    t.match(await run(...walked, option, given), { status: 2, stderr: expected })
  }
  t.equal((await rig.mails()).length, 0)

  t.match(await run('automation', 'move', id, '--to', 'latest', '--dry-run'), {
    stdout: 'Every live run is of version 1\n',
  })
  await rig.revise(id, [trigger(), delay('first', 'P1D')])
  t.match(await run('automation', 'move', id, '--to', 'latest', '--dry-run'), {
    stdout: /\n1 +first +delay +1 +yes\n$/,
    stderr: 'Nothing was moved: without --dry-run it is\n',
  })
  t.match(await run('automation', 'move', id, '--to', '2', '--yes'), {
    stdout: 'Moved: 1 run to version 2\n',
  })
  await refused(/no version 7/, 'automation', 'move', id, '--to', '7', '--yes')

  const list = ['automation', 'start', id, '--list', 'Readers']
  await rig.add('bob@example.com')
  t.match(await run(...list, '--dry-run'), {
    stdout:
      /^It would start 1 run for 2 contacts, at once\nNOT STARTED +WHY\n1 +already_running\n$/,
  })
  t.match(await json(...list, '--per-hour', '5', '--yes'), {
    contacts: 2,
    starts: 1,
    refused: { already_running: 1 },
    perHour: 5,
    begun: true,
  })
  t.match((await run('automation', 'show', id)).stdout, /\nStart over a list +.+ 5 an hour\n/)
  await refused(/is under way/, ...list, '--yes')
  t.match(await run('automation', 'start', id, '--stop'), { stdout: /^Stopped after 0 contacts/ })
  await refused(/No list "x"; there are:/, 'automation', 'start', id, '--list', 'x')
  await misused(/a list is missing/, 'automation', 'start', id)
})
