import t from 'tap'
import { rollUp } from '../../src/stats/index.js'
import { day, openMailLog } from '../support/mail-log.js'

t.test('a clock that goes a day forward and back takes a day too early at most', async (t) => {
  const log = await openMailLog(t, { plan: 'Free' })
  const { clock } = log
  await log.accept([{ html: 'old' }])
  await log.deliver()
  await clock.advance(5 * day)
  const [young = ''] = await log.accept([{ html: 'young' }])
  await log.deliver()
  await log.accept([{ html: 'newest' }])
  await log.run()
  await clock.advance(day)
  await log.run()
  clock.setBack(day)
  await log.run()
  const [later = ''] = await log.accept([{ html: 'later' }])
  await log.deliver()
  t.equal((await log.mails()).length, 4)
  for (let days = 0; days < 35; days += 5) {
    await clock.advance(5 * day)
    await log.accept([{ html: `newest ${days}` }])
    await log.run()
  }
  const left = await log.mails()
  t.notOk(left.includes(young) || left.includes(later), 'and those go in their time')
})

t.test('a clock that jumps by years deletes what a week made old, and says so', async (t) => {
  const log = await openMailLog(t, { plan: 'Growth' })
  const { clock, store } = log
  for (let n = 0; n < 6; n++) {
    await log.accept([{ html: `day ${n * 5}` }])
    await log.deliver()
    await log.run()
    await clock.advance(5 * day)
  }
  await log.run()
  t.equal((await log.mails()).length, 6)
  await clock.advance(3_650 * day)
  const { problems } = await log.run()
  t.match(problems, [/deletes what 7 days made old/])
  t.equal((await log.mails()).length, 4)
  clock.setBack(3_650 * day)
  t.same((await log.run()).problems, [])
  t.equal((await log.mails()).length, 4, 'set right again, it has taken no more')
  while (await rollUp(store)) {}
})
