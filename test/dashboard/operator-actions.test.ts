// Issue 15, point 3: what an operator does on these pages is done, noted, and left to operators.
import t from 'tap'
import { pauseSending } from '../../src/billing/index.js'
import { readAudit } from '../../src/protection/index.js'
import { type LoggedIn, logIn } from '../support/log-in.js'
import { type Posthorn, startPosthorn } from '../support/posthorn.js'
import { addWaiting, fillForOperator } from './operator-data.js'

const standing = ({ store, accountId }: Posthorn) =>
  store.read
    .selectFrom('subscriptions')
    .selectAll()
    .where('account_id', '=', accountId)
    .executeTakeFirstOrThrow()

const noted = ({ store }: Posthorn) =>
  store.read.selectFrom('audit_log').selectAll().orderBy('id', 'desc').executeTakeFirstOrThrow()

/** What a form of the queue's changes sends, as its page has it. */
async function formOf(operator: LoggedIn, path: string): Promise<Record<string, string>> {
  const { text } = await operator.get(path)
  const fields = [...text.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)">/g)]
  return Object.fromEntries(fields.map(([, name = '', value = '']) => [name, value]))
}

// An account's own tests leave it as it was, but for the last.
const hook = ['curl', '--token=very-secret-word', 'https://me:my-secret@backup.test']
const posthorn = await startPosthorn(t, { settings: { backup: { hook } } })
const operator = await logIn(posthorn, posthorn.accountId, 'operator')

t.test('an operator clears a pause with a reason, and mail flows again', async (t) => {
  const { store, accountId } = posthorn
  await store.write((tx) => pauseSending(tx, accountId, 'bounce'))
  const mail = { from: 'a@sender.test', to: 'b@example.com', subject: 'x', html: 'x' }
  t.equal((await posthorn.send(mail)).status, 503)
  const path = `/operator/accounts/${accountId}`
  t.match((await operator.get(path)).text, 'All mail is paused')

  const bare = await operator.post(`${path}/unpause`, { note: ' ' })
  t.equal(bare.status, 422, 'not without a reason')
  t.match(bare.text, /id="field-note-fault">Say why/)
  t.equal((await standing(posthorn)).paused, 'bounce')

  const cleared = await operator.post(`${path}/unpause`, { note: 'the list is cleaned' })
  t.equal(cleared.status, 303)
  t.equal(cleared.to, path)
  const [entry] = await readAudit(store.read, { accountId, limit: 1 })
  t.match(entry, { action: 'cleared', note: 'the list is cleaned', who: /^operator-/ })
  t.match(await noted(posthorn), {
    action: 'account.unpause',
    account_id: accountId,
    actor: 'user',
  })
  const { status, json } = await posthorn.send(mail)
  t.equal(status, 200)
  await posthorn.until(json.id, ({ status }) => status === 'delivered')
  t.equal(
    (await operator.post(`${path}/unpause`, { note: 'again' })).status,
    422,
    'it is not paused',
  )
})

t.test('an account is made, and one of the same name is refused with what was typed', async (t) => {
  const made = await operator.post('/operator/accounts', { name: 'City library' })
  t.match(made.to, /^\/operator\/accounts\/[0-9a-f-]{36}$/)
  const twin = await operator.post('/operator/accounts', { name: 'City library' })
  t.equal(twin.status, 422)
  t.match(twin.text, 'There is an account named &quot;City library&quot; already')
  t.match(twin.text, 'value="City library"')
  t.match((await operator.get('/operator/accounts?q=library')).text, 'City library')
})

t.test('a change of the queue is of those that were counted, and of no others', async (t) => {
  const posthorn = await startPosthorn(t)
  const { store } = posthorn
  const operator = await logIn(posthorn, posthorn.accountId, 'operator')
  const slow = [await addWaiting(posthorn), await addWaiting(posthorn), await addWaiting(posthorn)]
  const other = await addWaiting(posthorn, { lane: 'other.test' })
  const heldNow = async () => {
    const rows = await store.read.selectFrom('queue').select('id').where('held_at', 'is not', null)
    return (await rows.orderBy('id').execute()).map(({ id }) => id)
  }
  const path = '/operator/queue/change/hold'
  const page = await operator.get(`${path}?domain=slow.test`)
  t.match(page.text, '<h1>Hold 3 deliveries')
  const form = await formOf(operator, `${path}?domain=slow.test`)
  const later = await addWaiting(posthorn)
  const held = await operator.post(path, { ...form, reason: 'their postmaster asked' })
  t.equal(held.to, '/operator/queue?domain=slow.test')
  t.same(await heldNow(), slow, `neither ${other} nor ${later}`)
  t.match(await noted(posthorn), { action: 'queue.hold', target: '3 deliveries' })
  t.match((await operator.get('/operator/held')).text, 'their postmaster asked')

  const release = await formOf(operator, `/operator/queue/change/release?id=${slow[0]}`)
  t.equal(
    (await operator.post('/operator/queue/change/release', { ...release, reason: '' })).status,
    303,
  )
  t.same(await heldNow(), slow.slice(1))

  const retry = await formOf(operator, '/operator/queue/change/retry?domain=other.test')
  t.equal(
    (await operator.post('/operator/queue/change/retry', { ...retry, reason: '' })).status,
    303,
  )

  const fail = await formOf(operator, '/operator/queue/change/fail?held=yes')
  const refused = await operator.post('/operator/queue/change/fail', { ...fail, reason: '' })
  t.equal(refused.status, 422)
  t.match(refused.text, /id="field-reason-fault">Say why/)
  t.match(refused.text, '<h1>Fail 2 deliveries', 'with the count that it is about')
})

t.test('a delivery that leaves from another pool says which', async (t) => {
  const posthorn = await startPosthorn(t, {
    env: { POSTHORN_OUTBOUND_ROUTE: 'direct' },
    settings: { outbound: { pools: { spare: { sources: [{ addresses: ['127.0.0.9'] }] } } } },
  })
  const operator = await logIn(posthorn, posthorn.accountId, 'operator')
  const path = `/operator/queue/${await addWaiting(posthorn)}`
  t.notMatch((await operator.get(path)).text, 'leaves from the pool')
  const order = { site: 'slow.test', pool: 'spare', lasts: '2h', why: 'we are blocked there' }
  t.equal((await operator.post('/operator/sites/order', order)).status, 303)
  t.match(
    (await operator.get(path)).text,
    /Mail to slow\.test leaves from the pool spare until .*: we are blocked there\. /,
  )
})

t.test('what is failed is ended for the sender, with the reason in its reply', async (t) => {
  const scheduledAt = new Date(Date.now() + 86_400_000).toISOString()
  const { json } = await posthorn.send({
    from: 'a@sender.test',
    to: 'b@gone.test',
    subject: 'x',
    html: 'x',
    scheduledAt,
  })
  const fail = await formOf(operator, '/operator/queue/change/fail?domain=gone.test')
  const done = await operator.post('/operator/queue/change/fail', {
    ...fail,
    reason: 'it is closed',
  })
  t.equal(done.status, 303)
  const email = await posthorn.until(json.id, ({ status }) => status === 'failed')
  t.match(JSON.stringify(email), 'it is closed')
})

t.test('failover is ordered only where there is another way', async (t) => {
  const forced = await operator.post('/operator/failover', { order: 'force', site: 'google' })
  t.equal(forced.status, 422)
  t.match(forced.text, 'There is no smart host')
  t.equal((await operator.post('/operator/failover', { order: 'forbid' })).status, 303)
  t.match((await operator.get('/operator/failover')).text, 'forbidden by the operator')
  t.equal((await operator.post('/operator/failover', { order: 'auto' })).status, 303)
  t.notMatch((await operator.get('/operator/failover')).text, 'forbidden by the operator')
})

t.test(
  'a job runs when it is asked for; the doctor leaves findings with their fixes',
  async (t) => {
    t.match((await operator.get('/operator/doctor')).text, 'Not examined yet')
    const begun = await operator.post('/operator/doctor')
    t.equal(begun.to, '/operator/doctor')
    t.match(await noted(posthorn), { action: 'job.run', target: 'doctor' })
    for (let text = ''; !text.includes('Findings, the worst first'); ) {
      text = (await operator.get('/operator/doctor')).text
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    t.match((await operator.get('/operator/jobs/doctor')).text, 'by hand')
    t.match((await operator.get('/operator/doctor')).text, 'backup.dir')
  },
)

t.test(
  'parked reports are read again or dropped, and mail to the postmaster is deleted',
  async (t) => {
    const { mailId, reportId } = await fillForOperator(posthorn)
    const source = await operator.get(`/operator/inbound/${mailId}/source`)
    t.match(source.headers.get('content-disposition'), 'attachment')
    t.equal((await operator.post(`/operator/inbound/${mailId}/delete`)).status, 303)
    t.equal((await operator.get(`/operator/inbound/${mailId}`)).status, 404)
    t.equal((await operator.get(`/operator/parked/${reportId}/source`)).status, 200)
    t.equal((await operator.post('/operator/parked/discard', { id: String(reportId) })).status, 303)
    t.equal((await operator.post('/operator/parked/discard', { id: String(reportId) })).status, 404)
    t.match((await operator.get('/operator/parked')).text, 'Nothing is parked')
    t.equal((await operator.post('/operator/parked/retry', { id: 'all' })).status, 303)
  },
)

t.test('people are invited, disabled and given links, which are shown once', async (t) => {
  const posthorn = await startPosthorn(t)
  const operator = await logIn(posthorn, posthorn.accountId, 'operator')
  const viewer = await logIn(posthorn, posthorn.accountId, 'viewer')
  const invited = await operator.post('/operator/users/invite', { email: 'eve@people.test' })
  t.equal(invited.status, 200)
  t.match(invited.text, /\/invite\/[\w-]{20,}/)
  t.equal(invited.headers.get('cache-control'), 'no-store')
  const log = JSON.stringify(await noted(posthorn))
  t.match(log, 'eve@people.test')
  t.notMatch(log, /invite\/[\w-]{20,}/, 'no link in the log')
  t.match((await operator.get('/operator/users')).text, 'Invited as operators')
  const users = await posthorn.store.read.selectFrom('users').selectAll().execute()
  const idOf = (email: string) => users.find((one) => one.email.startsWith(email))?.id ?? ''
  await posthorn.store.write((tx) =>
    tx.updateTable('users').set({ proved_at: null }).where('id', '=', idOf('viewer')).execute(),
  )
  t.match((await operator.get('/operator/users')).text, 'address not proved')
  t.match((await operator.get(`/operator/users/${idOf('viewer')}`)).text, 'an owner had their link')
  const capitals = `/operator/users/${idOf('viewer').toUpperCase()}`
  t.equal((await operator.get(capitals)).status, 200, 'an id is the same in capitals')
  const promoted = await operator.post(`/operator/users/${idOf('viewer')}/promote`)
  t.match(promoted.text, /It is not certain that viewer.* is the person who logs in/)
  const reset = await operator.post(`/operator/users/${idOf('viewer')}/reset`, { factors: 'on' })
  t.match(reset.text, /\/reset\/[\w-]{20,}/)
  t.equal((await operator.post(`/operator/users/${idOf('viewer')}/disable`)).status, 303)
  t.equal((await viewer.get(`/a/${posthorn.accountId}`)).status, 303, 'their session is over')
  const last = await operator.post(`/operator/users/${idOf('operator')}/disable`)
  t.equal(last.status, 422, 'the last operator stays')
  t.match(last.text, 'There is no other operator')
})

t.test('an operator invites the first owner of a new account', async (t) => {
  const { accountId } = await posthorn.addAccount('New')
  const path = `/operator/accounts/${accountId}/people`
  const wrong = await operator.post(path, { email: 'nobody', role: 'owner' })
  t.equal(wrong.status, 422)
  t.match(wrong.text, 'value="nobody"')
  const invited = await operator.post(path, { email: 'ann@people.test', role: 'owner' })
  const [link = ''] = /\/invite\/[\w-]{20,}/.exec(invited.text) ?? []
  t.match((await fetch(posthorn.url + link)).status, 200)
  t.match((await operator.get(path)).text, 'ann@people.test')
  t.match(await noted(posthorn), { action: 'team.invite', account_id: accountId })
})

t.test('settings name no secret', async (t) => {
  const { text: broken } = await operator.get('/operator/settings?section=backup')
  // A long word of a table may break.
  const text = broken.replaceAll('<wbr>', '')
  t.match(text, 'backup.test')
  t.notMatch(text, /very-secret-word|my-secret/)
})

t.test('an operator pauses, suspends and gives a plan', async (t) => {
  const path = `/operator/accounts/${posthorn.accountId}`
  const pause = { reason: 'complaint', marketing: 'on', pauseNote: 'abuse report 7' }
  t.equal((await operator.post(`${path}/pause`, pause)).status, 303)
  t.match(await standing(posthorn), { paused: null, marketing_paused: 'complaint' })
  const { pauseNote } = pause
  t.equal((await operator.post(`${path}/pause`, { reason: 'complaint', pauseNote })).status, 303)
  t.match(await standing(posthorn), { paused: 'complaint' })
  t.equal((await operator.post(`${path}/suspend`, { suspendReason: 'spam' })).status, 303)
  t.match(await standing(posthorn), { suspended_reason: 'spam' })
  t.equal((await operator.post(`${path}/unsuspend`)).status, 303)
  t.match(await standing(posthorn), { suspended_reason: null })
  const given = { plan: 'Growth', marketingPlan: 'none', state: 'past_due' }
  t.equal((await operator.post(`${path}/plan`, given)).status, 303)
  t.match(await standing(posthorn), { billing_state: 'past_due', marketing_plan_id: null })
  t.match((await operator.get(path)).text, 'value="past_due" selected')
  const unknown = await operator.post(`${path}/plan`, { ...given, plan: 'Free lunch' })
  t.equal(unknown.status, 422)
  t.equal((await operator.post('/operator/accounts/none/unsuspend')).status, 404)
})
