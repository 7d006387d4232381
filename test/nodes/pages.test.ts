// Issue 46: whatever a page of one node keeps in memory, the next request may come to another node.
import t from 'tap'
import { systemClock } from '../../src/clock/index.js'
import { makeTurns, openStore } from '../../src/store/index.js'
import { nodesRig } from '../support/nodes.js'
import { noPostgres } from '../support/postgres.js'
import { firstOperator, openBrowser } from '../support/visitor.js'

t.test('pages of two nodes', { skip: noPostgres ?? false }, async (t) => {
  const rig = await nodesRig(t)
  const first = await rig.start('mail1')
  const second = await rig.start('mail2')
  const url = `${rig.server.url}/mail`
  const place = { dataDir: rig.dirOf('mail1'), url, clock: systemClock }
  const store = await openStore({ ...place, turns: makeTurns(), slot: 15 })
  t.teardown(() => store.close())
  const here = await firstOperator(t, { url: first.url, store }, systemClock)
  const there = openBrowser(second.url)
  // One browser, whose connections lead to two nodes.
  const together = () => {
    for (const [name, value] of here.cookies) there.cookies.set(name, value)
  }
  together()
  const { account } =
    (await rig.ask<{ account: string }>('select id as account from accounts'))[0] ?? {}
  const at = `/a/${account}`
  const valueIn = (text: string) => /name="posthorn-once" value="([^"]+)"/.exec(text)?.[1] ?? ''

  await t.test('a preview that one has made is shown by the other', async (t) => {
    const made = await fetch(`${first.url}/v1/templates`, {
      method: 'POST',
      headers: { authorization: `Bearer ${rig.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ slug: 'hello', name: 'Hello', subject: 'Hi', html: '<p>Good day' }),
    })
    t.equal(made.status, 201, await made.text())
    const { text } = await here.get(`${at}/templates/hello`)
    const frame = new RegExp(`${at}/templates/-/rendered/[\\w-]+`).exec(text)?.[0] ?? ''
    for (const browser of [here, there]) {
      const shown = await browser.get(frame)
      t.equal(shown.status, 200)
      t.match(shown.text, /Good day/)
    }
    t.equal((await openBrowser(second.url).get(frame)).to?.startsWith('/login'), true)
  })

  await t.test('a form that is sent to both does its work once', async (t) => {
    const { text } = await here.get(`${at}/lists/new`)
    const form = { name: 'Readers', 'posthorn-once': valueIn(text) }
    const sent = await Promise.all([
      here.post(`${at}/lists/new`, form),
      there.post(`${at}/lists/new`, form),
    ])
    t.same(sent.map(({ status }) => status).sort(), [303, 409])
    t.equal((await there.post(`${at}/lists/new`, form)).status, 409)
    t.match(await rig.ask('select name from contact_lists'), [{ name: 'Readers' }])
    // A form that was refused may be sent again, to whichever.
    const again = { ...form, name: '' }
    t.equal((await there.post(`${at}/lists/new`, again)).status, 422)
    t.equal((await there.post(`${at}/lists/new`, again)).status, 422)
  })

  await t.test('what one has done is told by the other', async (t) => {
    const { text } = await here.get(`${at}/lists/new`)
    const done = await here.post(`${at}/lists/new`, {
      name: 'Others',
      'posthorn-once': valueIn(text),
    })
    t.equal(done.status, 303)
    t.ok(here.cookies.has('posthorn-flash'))
    together()
    const shown = await there.get(done.to ?? '')
    t.match(shown.cookies.join(), /posthorn-flash=;/, 'it is shown and deleted')
  })

  await t.test('a form that waits for a log-in at one is offered by the other', async (t) => {
    const stranger = openBrowser(second.url)
    const kept = await stranger.post(`/login/kept?to=${at}/lists/new&next=${at}/lists`, {
      name: 'Kept for later',
    })
    t.equal(kept.status, 303)
    for (const [name, value] of stranger.cookies) here.cookies.set(name, value)
    t.match((await here.get('/me/kept')).text, /Kept for later/)
  })

  await t.test('where that node is gone the page says so, and a form does its work', async (t) => {
    const { text } = await here.get(`${at}/lists/new`)
    await first.kill('SIGKILL')
    const form = { name: 'Late', 'posthorn-once': valueIn(text) }
    t.equal((await there.post(`${at}/lists/new`, form)).status, 303)
  })
})
