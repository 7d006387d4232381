// Issue 'what operators and developers ask', 2: with a stolen key, events lead to no more strangers than mails do.
import t from 'tap'
import { openSurges } from '../../src/surges/index.js'
import { openEngine, send, trigger } from '../support/automation-rig.js'

t.test(
  'transactional mail to far more strangers than usual is held, and marketing is not',
  async (t) => {
    const rig = await openEngine(t)
    const { store } = rig
    await rig.enabled([trigger(), send('mail', { type: 'transactional' })])
    await rig.enabled([trigger('joined'), send('news')], {}, 'News')
    const happens = async (event: string, names: string, count: number) => {
      for (let n = 0; n < count; n++) await rig.event({ event, email: `${names}${n}@example.com` })
      await rig.work({ surges: { minimum: 10, times: 10 } })
    }
    const held = async () => {
      const rows = await store.read
        .selectFrom('queue')
        .select(['recipient', 'held_by', 'held_reason'])
        .where('held_at', 'is not', null)
        .execute()
      t.ok(rows.every(({ held_by, held_reason }) => held_by === 'surge' && held_reason !== ''))
      return rows.map(({ recipient }) => recipient.replace(/\d+@.*/, ''))
    }
    await happens('signup', 'early', 8)
    t.same(await held(), [], 'so many are no surge')
    await happens('signup', 'stranger', 12)
    t.same(
      await held(),
      Array.from({ length: 12 }, () => 'stranger'),
    )
    await happens('joined', 'reader', 15)
    await happens('signup', 'late', 1)
    t.equal((await held()).filter((name) => name === 'late').length, 1, 'until somebody decides')
    t.equal((await held()).length, 13, 'campaigns of contacts have limits of their own')
    t.match(await openSurges(store.read, 10), [{ held: 13, sources: [{ keyId: null, mails: 13 }] }])
    const [hour] = await store.read.selectFrom('handed_in').select('mails').execute()
    t.equal(hour?.mails, 21, 'they count in the hour of the account')
    t.equal((await rig.mails()).length, 36, 'nothing is lost')
  },
)
