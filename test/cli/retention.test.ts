import t from 'tap'
import { systemClock } from '../../src/clock/index.js'
import { firstUuidAt, makeTurns, openStore } from '../../src/store/index.js'
import { openHappenings } from '../support/log-happenings.js'
import { databaseIn } from '../support/store.js'
import { openPlace } from './place.js'

// On a machine that may have other work.
t.setTimeout(300_000)

t.test('what is kept and what goes next is shown, and nothing is deleted', async (t) => {
  const { run, json, data } = await openPlace(t)
  t.match(await json('retention'), { accounts: [], ranAt: null, oldBodies: 0 })
  const store = await openStore({
    ...(await databaseIn(data)),
    clock: systemClock,
    turns: makeTurns(),
    slot: 15,
  })
  t.teardown(() => store.close())
  const logs = openHappenings({ store, clock: systemClock })
  const accountId = await logs.account('City', 'one.test')
  const mail = (days: number) => {
    const createdAt = systemClock.now() - days * 86_400_000
    return {
      id: firstUuidAt(createdAt),
      accountId,
      domain: 'one.test',
      createdAt,
      type: 'transactional' as const,
      broadcastId: null,
      tags: [],
      copies: [],
    }
  }
  await logs.accept([mail(400), mail(40), mail(1)])
  t.match(await json('retention'), {
    accounts: [{ id: accountId, name: 'City', mails: 3 }],
    oldBodies: 2,
    oldTranscripts: 2,
    waiting: { bodies: 0 },
    ages: { bodies: 30 * 86_400_000, consent: 'forever', diskShare: 800_000 },
  })
  const { stdout } = await run('retention')
  t.match(stdout, /City +\d+ days +3 +[12]/)
  t.match(stdout, /consent +ever/)
  t.match(stdout, /above 80% the oldest bodies go/)
  t.equal((await store.read.selectFrom('emails').select('id').execute()).length, 3)
})
