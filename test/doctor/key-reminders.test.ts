import t from 'tap'
import { createAccount, createKey } from '../../src/accounts/index.js'
import { dayMs } from '../../src/clock/index.js'
import { loadConfig, makeApplianceKey } from '../../src/config/index.js'
import { remindOfKeys } from '../../src/doctor/index.js'
import { addDomain } from '../../src/domains/index.js'
import { FakeClock } from '../support/clock.js'
import { openTestStore } from '../support/store.js'

const { keys: settings } = loadConfig({ env: {} })

t.test('keys that expire soon, are not used or are old are named with what to do', async (t) => {
  const clock = new FakeClock()
  const store = await openTestStore(t, { clock })
  const deps = { store, clock, key: makeApplianceKey(Buffer.alloc(32, 7)) }
  const { id: accountId } = await createAccount(deps, 'Test')
  await addDomain(deps, accountId, 'shop.test', { trust: true })
  const expiresAt = clock.now() + 190 * dayMs
  const soon = await createKey(deps, accountId, 'soon', { limits: { expiresAt } })
  const idle = await createKey(deps, accountId, 'idle')
  const over = await createKey(deps, accountId, 'over', {
    limits: { expiresAt: clock.now() + 30 * dayMs },
  })
  const remind = () => remindOfKeys(store.read, settings, clock.now())
  t.same((await remind()).problems, [])
  clock.jump(181 * dayMs)
  const busy = await createKey(deps, accountId, 'busy')
  const used = { last_used_at: clock.now() - dayMs }
  await store.write((tx) =>
    tx.updateTable('api_keys').set(used).where('id', '=', soon.id).execute(),
  )
  const { problems = [], figures } = await remind()
  t.same(figures, { expiring: 1, unused: 1, oldDkim: 0 })
  t.match(problems[0], `API key ${soon.id} of account ${accountId} expires in 9 days`)
  t.match(problems[1], `'posthorn key delete ${idle.id} --account ${accountId}'`)
  t.notMatch(problems.join(), new RegExp(`${busy.id}|${over.id}`), 'new, or none any more')
  clock.jump(550 * dayMs)
  const later = await remind()
  t.equal(later.figures?.oldDkim, 1)
  t.match(
    later.problems?.at(-1),
    /DKIM keys of shop\.test are 731 days old.*'posthorn domain rotate/,
  )
})
