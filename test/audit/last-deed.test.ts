// Who has paused, cancelled or chosen something is found by an index, however much else the account did.
import t from 'tap'
import { lastDeed, noteAudit } from '../../src/audit/index.js'
import { lastDeedQuery } from '../../src/audit/read.js'
import { chosenWords, hoursWords } from '../../src/broadcasts/index.js'
import { aboutSqlite } from '../support/postgres.js'
import { queryPlan } from '../support/query-plan.js'
import { openTestStore } from '../support/store.js'

const deed = { action: 'broadcast.choose', target: 'campaign' }

t.test('the last deed at one thing is found by its index', async (t) => {
  const store = await openTestStore(t)
  const note = (kind: 'user' | 'api' | 'cli', target: string, at: number) =>
    store.write((tx) => {
      const actor = { kind, userId: null, name: `${kind} name`, clientAddressKey: null }
      return noteAudit(tx, { ...deed, actor, accountId: 'a', target, at })
    })
  await note('user', 'campaign', 1)
  await note('user', 'another', 3)
  t.match(await lastDeed(store.read, 'a', deed), { at: 1, who: 'user name' })
  await note('api', 'campaign', 2)
  t.match(await lastDeed(store.read, 'a', deed), { at: 2, who: 'the key “api name”' })
  await note('cli', 'campaign', 4)
  t.match(await lastDeed(store.read, 'a', deed), { at: 4, who: 'an operator' })
  t.equal(await lastDeed(store.read, 'b', deed), undefined)
})

t.test('its statement is an index search', aboutSqlite, async (t) => {
  const store = await openTestStore(t)
  const [plan] = await queryPlan(store.read, lastDeedQuery(store.read, 'a', deed))
  t.match(plan, /SEARCH audit_log USING INDEX audit_log_target \(account_id=\? AND target=\?\)/)
})

t.test('who chose a version is said in words', async (t) => {
  const test = JSON.stringify({ share: 20, decideAfter: 168, by: 'clicks', ifClose: 'control' })
  const of = (decided_by: 'figures' | 'close' | 'account') => ({ decided_by, variant_test: test })
  t.equal(chosenWords(of('account'), 'Ann Lee'), 'chosen by Ann Lee')
  t.equal(chosenWords(of('account'), null), 'chosen by somebody of the account')
  t.match(chosenWords(of('figures'), null), /^chosen by itself after 7 days, as more people/)
  t.match(chosenWords(of('close'), null), /^chosen by itself after 7 days: no version was better/)
  t.same([1, 8, 24, 36, 48].map(hoursWords), ['1 hour', '8 hours', '1 day', '36 hours', '2 days'])
})
