// Issue 15: who is in an account, how they come in, and who stays.
import t, { type Test } from 'tap'
import { createAccount } from '../../src/accounts/index.js'
import { type StartedPeople, startPeople } from '../support/people.js'
import { type Browser, firstOperator, goodPassword, openBrowser } from '../support/visitor.js'

async function inviteAs(t: Test, owner: Browser, accountId: string, email: string, role: string) {
  const { status, text } = await owner.post(`/a/${accountId}/team/invite`, { email, role })
  t.equal(status, 200)
  const [, path = ''] = /http:\/\/[^/]+(\/invite\/[\w-]{43})</.exec(text) ?? []
  return path
}

async function join(t: Test, started: StartedPeople, owner: Browser, email: string, role: string) {
  const path = await inviteAs(t, owner, started.accountId, email, role)
  const browser = openBrowser(started.url)
  const { to } = await browser.post(path, { name: email, password: goodPassword })
  t.equal(to, `/a/${started.accountId}`)
  return { browser, path }
}

t.test('who is new joins by the link alone, once, and may what their role says', async (t) => {
  const started = await startPeople(t)
  const { url, clock, accountId, store } = started
  const owner = await firstOperator(t, started, clock)
  const { browser: eve, path } = await join(t, started, owner, 'eve@example.test', 'viewer')
  t.equal((await openBrowser(url).get(path)).status, 404, 'the link is good once')
  t.equal((await eve.get(`/a/${accountId}/team`)).status, 403, 'a viewer does not see the team')
  const { text } = await owner.get(`/a/${accountId}/team`)
  t.match(text, /eve@example\.test/)
  const eveRow = await store.read
    .selectFrom('users')
    .select('id')
    .where('address', '=', 'eve@example.test')
    .executeTakeFirstOrThrow()
  const role = `/a/${accountId}/team/${eveRow.id}/role`
  t.equal((await eve.post(role, { role: 'owner' })).status, 403)
  t.equal((await owner.post(role, { role: 'owner' })).status, 303)
  t.equal((await eve.get(`/a/${accountId}/team`)).status, 200, 'from the next page on')
  t.equal((await owner.post(`/a/${accountId}/team/${eveRow.id}/remove`)).status, 303)
  t.equal((await eve.get(`/a/${accountId}/team`)).status, 404, 'for who is out it does not exist')
  const rows = await store.read
    .selectFrom('audit_log')
    .select(['action', 'target', 'actor'])
    .where('account_id', '=', accountId)
    .execute()
  t.same(
    rows,
    [
      { action: 'team.join', target: 'eve@example.test', actor: 'user' },
      { action: 'team.role', target: 'eve@example.test', actor: 'user' },
      { action: 'team.remove', target: 'eve@example.test', actor: 'user' },
    ].toSpliced(0, 0, { action: 'team.invite', target: 'eve@example.test', actor: 'user' }),
  )
})

t.test('who is there already logs in to join, and nobody joins in their place', async (t) => {
  const started = await startPeople(t)
  const { url, clock, store } = started
  const owner = await firstOperator(t, started, clock)
  await join(t, started, owner, 'eve@example.test', 'member')
  const { id: second } = await createAccount({ store, clock }, 'Museum')
  const olga = await store.read
    .selectFrom('users')
    .select('id')
    .where('operator', '=', 1)
    .executeTakeFirstOrThrow()
  await store.write((tx) =>
    tx
      .insertInto('memberships')
      .values({ user_id: olga.id, account_id: second, role: 'owner', created_at: 1 })
      .execute(),
  )
  const path = await inviteAs(t, owner, second, 'Eve@Example.test', 'member')
  const stranger = await openBrowser(url).post(path, { name: 'X', password: goodPassword })
  t.equal(stranger.to, `/login?next=${encodeURIComponent(path)}`, 'no password can be set for them')
  t.equal((await owner.post(path)).status, 422, 'somebody else is logged in')
  t.match(
    (await owner.get(path)).text,
    /logged in as olga@example\.test, and this invitation is for Eve/,
  )
  const eve = openBrowser(url)
  const entered = await eve.post('/login', {
    email: 'eve@example.test',
    password: goodPassword,
    next: path,
  })
  t.equal(entered.to, path)
  t.equal((await eve.post(path)).to, `/a/${second}`)
})

t.test(
  'an invitation ends after 7 days, when it is taken back, and with the next one',
  async (t) => {
    const started = await startPeople(t)
    const { url, clock, accountId, store } = started
    const owner = await firstOperator(t, started, clock)
    const first = await inviteAs(t, owner, accountId, 'eve@example.test', 'member')
    const second = await inviteAs(t, owner, accountId, 'eve@example.test', 'viewer')
    t.equal((await openBrowser(url).get(first)).status, 404)
    t.equal((await openBrowser(url).get(second)).status, 200)
    const { text } = await owner.get(`/a/${accountId}/team`)
    const [, revoke = ''] = /action="([^"]+\/revoke)"/.exec(text) ?? []
    t.equal((await owner.post(revoke)).status, 303)
    t.equal((await openBrowser(url).get(second)).status, 404)
    const third = await inviteAs(t, owner, accountId, 'eve@example.test', 'viewer')
    await clock.advance(7 * 86_400_000)
    t.equal((await openBrowser(url).get(third)).status, 404)
    t.same(
      (await store.read.selectFrom('invitations').select('accepted_at').execute()).length,
      1,
      'the one of before is gone',
    )
  },
)

t.test('the last owner stays one, and who is disabled does not count', async (t) => {
  const started = await startPeople(t)
  const { clock, accountId, store } = started
  const owner = await firstOperator(t, started, clock)
  await join(t, started, owner, 'eve@example.test', 'owner')
  const [olga, eve] = await Promise.all(
    ['olga@example.test', 'eve@example.test'].map((address) =>
      store.read
        .selectFrom('users')
        .select('id')
        .where('address', '=', address)
        .executeTakeFirstOrThrow(),
    ),
  )
  await store.write((tx) =>
    tx
      .updateTable('users')
      .set({ disabled_at: 1 })
      .where('id', '=', eve?.id ?? '')
      .execute(),
  )
  const own = `/a/${accountId}/team/${olga?.id}`
  for (const [path, form] of [
    [`${own}/role`, { role: 'member' }],
    [`${own}/remove`, {}],
  ] as const) {
    const { status, text } = await owner.post(path, form)
    t.equal(status, 422, path)
    t.match(text, /has no other owner/)
  }
  await store.write((tx) => tx.updateTable('users').set({ disabled_at: null }).execute())
  t.equal((await owner.post(`${own}/remove`)).to, '/me', 'with another one they may go')
  t.equal((await owner.get(`/a/${accountId}/team`)).status, 200, 'an operator looks in')
  t.equal((await owner.post(`${own}/remove`)).status, 403)
})

t.test(
  'no link that lets somebody in goes to the sandbox inbox, which everybody reads',
  async (t) => {
    for (const sandbox of [true, false]) {
      const started = await startPeople(t, { sandbox })
      const owner = await firstOperator(t, started, started.clock)
      await inviteAs(t, owner, started.accountId, 'eve@example.test', 'owner')
      t.equal(started.mailed.length, sandbox ? 0 : 1)
    }
  },
)

t.test('who may not see a page still sees who they are, and the way back', async (t) => {
  const started = await startPeople(t)
  const owner = await firstOperator(t, started, started.clock)
  const { browser: eve } = await join(t, started, owner, 'eve@example.test', 'viewer')
  const refused = await eve.get(`/a/${started.accountId}/team`)
  t.equal(refused.status, 403)
  t.match(refused.text, /does not let you see the team/)
  t.match(refused.text, /Back to City library/)
  t.notMatch(refused.text, />Log in</)
  const other = await eve.get(`/a/${crypto.randomUUID()}/team`)
  t.equal(other.status, 404)
  t.match(other.text, /eve@example\.test/)
})
