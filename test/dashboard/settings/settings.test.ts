import t from 'tap'
import { accountFace, createAccount, logoOf } from '../../../src/accounts/index.js'
import { systemClock } from '../../../src/clock/index.js'
import { accountSwitches } from '../../../src/tracking/index.js'
import { logIn } from '../../support/log-in.js'
import { startPosthorn } from '../../support/posthorn.js'

const posthorn = await startPosthorn(t)
const { store, accountId, url } = posthorn
const at = `/a/${accountId}/settings`
const owner = await logIn(posthorn, accountId, 'owner')
const member = await logIn(posthorn, accountId, 'member')
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
const upload = async (bytes: Buffer, who = owner) => {
  const body = new FormData()
  body.set('logo', new Blob([new Uint8Array(bytes)], { type: 'image/png' }), 'logo.png')
  const headers = { cookie: who.cookie, 'sec-fetch-site': 'same-origin' }
  const init = { method: 'POST', body, headers, redirect: 'manual' } as const
  const response = await fetch(`${url}${at}/logo`, init)
  return { status: response.status, text: await response.text() }
}

t.test('an account is renamed, but to no name that another has', async (t) => {
  const name = '<b>City</b> "library"'
  t.equal((await owner.post(`${at}/name`, { name })).to, at)
  const { text } = await owner.get(at)
  t.match(text, 'value="&lt;b&gt;City&lt;/b&gt; &quot;library&quot;"')
  t.notMatch(text, '<b>City</b>')
  await createAccount({ store, clock: systemClock }, 'Taken')
  for (const [given, words] of [
    ['Taken', 'There is an account named &quot;Taken&quot; already'],
    [' ', 'An account&#39;s name must have 1 to 100 characters'],
    ['x'.repeat(101), 'An account&#39;s name must have 1 to 100 characters'],
  ] as const) {
    const refused = await owner.post(`${at}/name`, { name: given })
    t.equal(refused.status, 422)
    t.match(refused.text, words)
    t.match(refused.text, `value="${given}"`, 'what was typed stays')
  }
  const noted = await store.read.selectFrom('audit_log').select('action').execute()
  t.match(noted, [{ action: 'account.rename' }])
})

t.test('a logo is set, shown as a picture alone, and taken away', async (t) => {
  t.match((await owner.get(at)).text, 'No logo yet')
  t.equal((await upload(png)).status, 303)
  t.match((await owner.get(at)).text, `src="${at}/logo?${png.length}"`)
  const shown = await owner.get(`${at}/logo`)
  t.equal(shown.headers.get('content-type'), 'image/png')
  t.match(shown.headers.get('content-security-policy'), 'sandbox')
  const svg = await upload(
    Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'),
  )
  t.equal(svg.status, 422)
  t.match(svg.text, 'A logo must be a PNG, JPEG or WebP picture')
  t.match((await upload(Buffer.alloc(70_000, png))).text, 'A logo may have at most 65536 bytes')
  t.equal((await upload(Buffer.alloc(0))).status, 422)
  t.same((await logoOf(store.read, accountId))?.bytes, png, 'the one before is still there')
  t.equal((await owner.post(`${at}/logo/remove`)).to, at)
  t.equal((await owner.get(`${at}/logo`)).status, 404)
})

t.test('tracking is chosen, or left to the appliance', async (t) => {
  await owner.post(`${at}/tracking`, { opens: 'off', clicks: 'on' })
  t.same(await accountSwitches(store.read, accountId), { opens: false, clicks: true })
  t.match((await owner.get(at)).text, '<option value="off" selected>')
  await owner.post(`${at}/tracking`, { opens: 'default', clicks: 'default' })
  t.same(await accountSwitches(store.read, accountId), { opens: null, clicks: null })
  t.equal((await owner.post(`${at}/tracking`, { opens: 'maybe', clicks: 'on' })).status, 422)
})

t.test('the language of what recipients read is chosen', async (t) => {
  t.match((await owner.get(at)).text, '<option value="en" selected>')
  t.equal((await owner.post(`${at}/language`, { language: 'fr' })).to, at)
  t.match((await owner.get(at)).text, '<option value="fr" selected>')
  t.equal((await accountFace(store.read, accountId))?.language, 'fr')
  t.equal((await owner.post(`${at}/language`, { language: 'xx' })).status, 422)
})

t.test('only owners change settings; others look', async (t) => {
  const { status, text } = await member.get(at)
  t.equal(status, 200)
  t.notMatch(text, 'method="post" action="/a/')
  t.equal((await member.post(`${at}/name`, { name: 'Mine' })).status, 403)
  t.equal((await upload(png, member)).status, 403)
  t.equal((await member.post(`${at}/language`, { language: 'en' })).status, 403)
  t.equal((await member.post(`${at}/tracking`, { opens: 'on', clicks: 'on' })).status, 403)
})
