import t from 'tap'
import {
  datesWait,
  dateWords,
  disableAutomation,
  enableAutomation,
  makeDateKeeper,
  makeVersions,
} from '../../src/automations/index.js'
import { readBilling } from '../../src/billing/index.js'
import { addContact, deleteContact } from '../../src/contacts/index.js'
import { silentLog } from '../../src/log/index.js'
import { createSegment, keepSegments, segmentsWait } from '../../src/segments/index.js'
import { dayMs, exit, openEngine, send, trigger } from '../support/automation-rig.js'
import { plans } from '../support/campaigns.js'

const never = new AbortController().signal

async function openDates(t: Parameters<typeof openEngine>[0]) {
  const rig = await openEngine(t)
  const { store, clock, accountId } = rig
  const open = () =>
    makeDateKeeper({
      store,
      clock,
      log: silentLog,
      versions: makeVersions(),
      isFull: async () => false,
    })
  /** As the thread does it; each time as after a restart. */
  const keep = () => keepSegments({ store, clock, log: silentLog, dates: open() }, never)
  const to = async (day: string) => {
    await clock.advance(Date.parse(day) - clock.now())
    await keep()
    await rig.work()
  }
  const person = (email: string, metadata: object) =>
    addContact({ store, clock }, accountId, { email, metadata: { ...metadata } })
  const sent = async () =>
    (await rig.mails()).map(({ to_list }) => JSON.parse(to_list)[0].split('@')[0]).sort()
  const due = () => store.read.selectFrom('automation_date_due').selectAll().execute()
  return { ...rig, keep, to, person, sent, due }
}

const onBirthday = (date: object = {}) =>
  trigger('$contact.date', { date: { field: 'birthday', ...date } })

t.test('a birthday is mailed each year, once, at the time where somebody is', async (t) => {
  const rig = await openDates(t)
  const year = new Date(rig.clock.now()).getUTCFullYear() + 1
  await rig.to(`${year}-01-10T00:00:00Z`)
  await rig.person('leap@x.test', { birthday: '1992-02-29' })
  await rig.person('tokyo@x.test', { birthday: '1990-03-05', timeZone: 'Asia/Tokyo' })
  await rig.person('none@x.test', { birthday: 'in spring' })
  const id = await rig.enabled([onBirthday({ days: -1 }), send('mail'), exit()])
  t.ok(await datesWait(rig))
  await rig.keep()
  t.notOk(await datesWait(rig))
  t.equal((await rig.due()).length, 2, 'only who has such a day has a row')
  // Who comes later, changes or has another zone is followed.
  const { contact } = await rig.person('late@x.test', { birthday: '2001-03-05' })
  t.ok(await segmentsWait(rig), 'a change is noted though the account has no segment')
  await rig.keep()
  t.equal((await rig.due()).length, 3)
  await rig.to(`${year}-02-${year % 4 === 0 ? 28 : 27}T09:00:10Z`)
  t.same(await rig.sent(), ['leap'], '29 February is on the 28th in other years')
  await rig.to(`${year}-03-03T23:59:00Z`)
  t.same(await rig.sent(), ['leap'])
  await rig.to(`${year}-03-04T00:00:30Z`)
  t.same(await rig.sent(), ['leap', 'tokyo'])
  await rig.to(`${year}-03-04T09:00:10Z`)
  t.same(await rig.sent(), ['late', 'leap', 'tokyo'])
  await rig.keep()

  // Another day in the same year, and on and off again: not twice in a year.
  await rig.store.write((tx) =>
    tx
      .updateTable('contacts')
      .set({ metadata: '{"birthday":"2001-06-01"}' })
      .where('id', '=', contact.id)
      .execute(),
  )
  const deps = { store: rig.store, clock: rig.clock, renderer: rig.renderer }
  await disableAutomation(deps, rig.accountId, id)
  await rig.keep()
  t.same(
    (await rig.due()).map(({ at }) => at),
    [null, null, null],
  )
  await enableAutomation(deps, await readBilling(rig.store.read, plans, rig.accountId), id)
  await rig.keep()
  await rig.to(`${year}-07-01T00:00:00Z`)
  t.equal((await rig.sent()).length, 3)
  const nextDue = (await rig.due()).find(({ contact_id }) => contact_id === contact.id)?.at ?? 0
  t.equal(new Date(nextDue).toISOString(), `${year + 1}-05-31T09:00:00.000Z`)

  // What was off for longer than a day mails nobody late, and goes on the year after.
  await rig.clock.advance(nextDue + 3 * dayMs - rig.clock.now())
  await rig.keep()
  await rig.work()
  t.equal((await rig.sent()).filter((who) => who === 'late').length, 1)
  t.notOk(await datesWait(rig))

  await deleteContact({ store: rig.store, clock: rig.clock }, rig.accountId, contact.id)
  t.equal((await rig.due()).length, 2, 'who is deleted has none')
})

t.test('what a trigger by date says is checked, and a kill leaves nothing out', async (t) => {
  const rig = await openDates(t)
  const bad = (config: object) => t.rejects(rig.enabled([trigger('$contact.date', config), exit()]))
  await bad({})
  await bad({ date: { field: 'a.b' } })
  await bad({ date: { field: 'birthday', days: 400 } })
  await bad({ date: { field: 'birthday', time: '24:00' } })
  await t.rejects(rig.enabled([trigger('signup', { date: { field: 'birthday' } }), exit()]))
  for (let n = 0; n < 450; n += 1) await rig.person(`p${n}@x.test`, { birthday: '1990-06-01' })
  await createSegment(rig, rig.accountId, {
    name: 'All',
    rule: { field: 'contact.email', operator: 'contains', value: 'x.test' },
  }).catch((error: unknown) => t.fail(String(error)))
  const id = await rig.enabled([onBirthday(), exit()])
  const once = makeDateKeeper({
    store: rig.store,
    clock: rig.clock,
    log: silentLog,
    versions: makeVersions(),
    isFull: async () => false,
  })
  await once.work()
  t.equal((await rig.due()).length, 200, 'a slice')
  await rig.keep()
  t.equal((await rig.due()).length, 450, 'the next start goes on')
  const at = (await rig.due())[0]?.at ?? 0
  await rig.clock.advance(at - rig.clock.now())
  await once.work()
  await rig.keep()
  t.match(await rig.automation(id), { enrolled: 450 })
  t.same(new Set((await rig.due()).map(({ done }) => done?.slice(5))), new Set(['06-01']))
})

t.test('when it begins is said in words', async (t) => {
  t.equal(
    dateWords({ field: 'metadata.birthday', days: -3 }),
    'Each year, 3 days before “birthday”, at 09:00 where they are',
  )
  t.equal(
    dateWords({ field: 'ends', time: '18:30', zone: 'Africa/Lagos', repeat: 'once' }),
    'Once, on the day of “ends”, at 18:30 in Africa/Lagos',
  )
})
