// Issue 15, 2: templates in the dashboard, all of it without script.
import t from 'tap'
import { createAccount } from '../../../src/accounts/index.js'
import { systemClock } from '../../../src/clock/index.js'
import { logIn } from '../../support/log-in.js'
import { startPosthorn } from '../../support/posthorn.js'

const posthorn = await startPosthorn(t)
const { store, accountId, call } = posthorn
const at = `/a/${accountId}/templates`
const [ann, eve] = [
  await logIn(posthorn, accountId, 'member'),
  await logIn(posthorn, accountId, 'viewer'),
]
const html = '<p>Hello {{ user.name }}</p>'
const filled = { variable: 'user.name', sample: 'Ada' }
const stored = async (slug: string) => (await call('GET', `/v1/templates/${slug}`)).json
const frameIn = async (text: string, query = '') => {
  const [, path = ''] = /src="([^"?]*\/-\/rendered\/[^"?]*)"/.exec(text) ?? []
  return await ann.get(path + query)
}

t.test('a template is made, looked at, changed and kept with its sample values', async (t) => {
  t.match((await ann.get(at)).text, /No template yet/)
  t.match((await ann.get(`${at}/-/new`)).text, /data-preview=/)
  const made = await ann.post(`${at}/-/new`, { slug: 'hi', subject: 'Hi', html, ...filled })
  t.equal(made.to, `${at}/hi`)
  t.match(await stored('hi'), { version: 1, subject: 'Hi', html, textBody: null })
  const page = (await ann.get(`${at}/hi`)).text
  t.match(page, 'value="Ada"')
  const frame = await frameIn(page)
  t.match(frame.text, '<p>Hello Ada</p>')
  t.match(frame.headers.get('content-security-policy'), /default-src 'none';.*sandbox/)

  const changes = { base: '1', subject: 'Hi {{ user.name }}', html, textBody: 'Hello', ...filled }
  t.equal((await ann.post(`${at}/hi`, changes)).to, `${at}/hi`)
  t.match(await stored('hi'), { version: 2, subject: changes.subject, textBody: 'Hello' })
  t.equal((await ann.post(`${at}/hi`, { ...changes, base: '2', sample: 'Bea' })).status, 303)
  t.match(await stored('hi'), { version: 2 }, 'nothing new is no version')
  t.match((await ann.get(`${at}/hi`)).text, /<b>Hi Bea<\/b>/)
  t.match((await ann.get(at)).text, /Hi \{\{ user\.name \}\}/)
})

t.test('a preview shows what is typed, and saves nothing', async (t) => {
  const before = await stored('hi')
  const typed = { base: '2', subject: 'New', html: '<b>{{ n }}</b>', variable: 'n', sample: '[1]' }
  const { status, text } = await ann.post(`${at}/hi/preview`, typed)
  t.equal(status, 200)
  t.match(text, '&lt;b&gt;{{ n }}&lt;/b&gt;', 'what was typed is in its field')
  t.match(text, '<code>n</code>')
  t.match((await frameIn(text)).text, '<b>1</b>')
  const dark = '<style>@media ( prefers-color-scheme:dark ){b{color:red}}</style><b>x</b>'
  const shown = await ann.post(`${at}/hi/preview`, { ...typed, html: dark })
  t.match((await frameIn(shown.text, '?dark=1')).text, '@media (min-width: 0px){b')
  t.same(await stored('hi'), before)
  const picture = { ...typed, html: '<img src="https://cdn.example.net/a.png" alt="">' }
  const without = (await ann.post(`${at}/hi/preview`, picture)).text
  t.match(without, `formaction="${at}/hi/preview?pictures=all#preview"`)
  const policyOf = async (page: string, query: string) =>
    (await frameIn(page, query)).headers.get('content-security-policy')
  t.match(await policyOf(without, ''), /img-src data: http:\/\/127\.0\.0\.1:\d+\/pictures\/;/)
  const asked = (await ann.post(`${at}/hi/preview?pictures=all`, picture)).text
  t.match(asked, /rendered\/[^"]+\?pictures=all"/)
  t.match(asked, `data-preview="${at}/hi/preview?pictures=all"`, 'what is typed next has them too')
  const policy = await policyOf(asked.replaceAll('?pictures=all"', '"'), '?pictures=all')
  t.match(policy, /img-src data: https: http:;/)
  t.notMatch(shown.text, 'Pictures from elsewhere', 'there are none')
  const rows = await store.read.selectFrom('audit_log').selectAll().execute()
  t.notOk(rows.some(({ action }) => action === 'templates.read'))
})

t.test(
  'a fault in Liquid stands beside its field with its place, and all that was typed stays',
  async (t) => {
    const wrong = { base: '2', subject: 'S', html: '<p>\n {% if x %}', textBody: 'T', ...filled }
    const { status, text } = await ann.post(`${at}/hi`, wrong)
    t.equal(status, 422)
    t.match(text, /id="field-html-fault">HTML, line 2, column 2: /)
    t.match(text, /data-fault="html" data-line="2" data-column="2"/)
    t.match(text, '{% if x %}')
    t.match(text, /name="sample" value="Ada"/)
    const missing = await ann.post(`${at}/hi/preview`, {
      ...wrong,
      html: '{{ a.b.c }}',
      variable: 'a.b.c',
      sample: '',
    })
    t.match(missing.text, /the variable &quot;a&quot; is missing/)
    const loop = '{% for i in order.items %}<b>{{ i.title }}</b>{% endfor %}'
    const looped = await ann.post(`${at}/-/new/preview`, { slug: 'x', subject: 'S', html: loop })
    t.match((await frameIn(looped.text)).text, '<b>Title</b>', 'a loop has an item to show')
    const slug = await ann.post(`${at}/-/new`, { slug: 'No!', subject: 'S', html })
    t.equal(slug.status, 422)
    t.match(slug.text, /id="field-slug-fault"/)
    const taken = await ann.post(`${at}/-/new`, { slug: 'hi', subject: 'S', html })
    t.equal(taken.status, 422)
    t.match(taken.text, /There is a template &quot;hi&quot; already/)
  },
)

t.test('who saves over another version than the one that was opened is told', async (t) => {
  const late = { base: '1', subject: 'Late', html, ...filled }
  const refused = await ann.post(`${at}/hi`, late)
  t.equal(refused.status, 422)
  t.match(refused.text, /Version 2 was saved meanwhile/)
  t.match(refused.text, 'value="Late"')
  t.match(refused.text, 'name="base" value="2"', 'saved again, it follows')
})

t.test('versions are told apart line by line, and restored', async (t) => {
  const lines = Array.from({ length: 30 }, (_, n) => `<p>line ${n}</p>`)
  await call('POST', '/v1/templates', {
    body: { slug: 'long', subject: 'One', html: lines.join('\n') },
  })
  lines[20] = '<p>another</p>'
  await call('PATCH', '/v1/templates/long', { body: { html: lines.join('\n'), subject: 'Two' } })
  t.match(
    (await ann.get(`${at}/long/versions`)).text,
    /Version 2<\/a> <span class="chip good">in use/,
  )
  const { text } = await ann.get(`${at}/long/versions/2`)
  t.match(text, '<del><span class="hidden">removed: </span>&lt;p&gt;line 20&lt;/p&gt;')
  t.match(text, '<ins><span class="hidden">added: </span>&lt;p&gt;another&lt;/p&gt;')
  t.match(text, '17 lines as before')
  t.notMatch(text, 'name="version"', 'the one in use is not restored')
  t.match((await ann.get(`${at}/long/versions/1?against=2`)).text, 'name="version" value="1"')
  t.equal((await ann.post(`${at}/long/restore`, { version: '1' })).to, `${at}/long`)
  t.match(await stored('long'), { version: 3, subject: 'One' })
  t.equal((await ann.get(`${at}/long/versions/9`)).status, 404)
  t.equal((await ann.post(`${at}/long/restore`, { version: '9' })).status, 404)
})

t.test(
  'a template is duplicated, tested and deleted, but not from under an automation',
  async (t) => {
    const copy = await ann.get(`${at}/-/new?from=hi`)
    t.match(copy.text, 'value="hi-copy"')
    const tested = await ann.post(`${at}/hi/test`, { from: 'a@sender.test' })
    t.equal(tested.to, `${at}/hi`)
    const mails = (await call('GET', '/v1/emails?template=hi')).json.emails
    t.match(mails, [{ subject: 'Hi Bea', to: /^member-.*@people\.test$/ }])
    const refused = await ann.post(`${at}/hi/test`, { from: 'a@other.test' })
    t.equal(refused.status, 422)
    t.match(refused.text, 'value="a@other.test"')

    const automation = {
      name: 'Welcome <b>',
      steps: [
        { key: 'start', type: 'trigger', config: { eventName: 'signup' } },
        { key: 'mail', type: 'send_email', config: { template: 'hi', from: 'a@sender.test' } },
      ],
      connections: [{ from: 'start', to: 'mail', type: 'default' }],
    }
    const { json } = await call('POST', '/v1/automations', { body: automation })
    await store.write((tx) =>
      tx.updateTable('subscriptions').set({ marketing_plan_id: posthornPlan }).execute(),
    )
    await call('POST', `/v1/automations/${json.id}/enable`)
    t.match((await ann.get(at)).text, 'Welcome &lt;b&gt;')
    t.match((await ann.get(`${at}/hi`)).text, /It is sent by &quot;Welcome &lt;b&gt;&quot;/)
    t.equal((await ann.post(`${at}/hi/delete`)).status, 422)
    t.equal((await ann.post(`${at}/long/delete`)).to, at)
    t.equal((await call('GET', '/v1/templates/long')).status, 404)
  },
)
const posthornPlan = (await call('GET', '/v1/broadcasts/plan/usage')).json.plan.id

t.test('a viewer looks and previews; another account has none of it', async (t) => {
  const { text } = await eve.get(`${at}/hi`)
  t.match(text, 'readonly')
  t.notMatch(text, 'Save as version')
  t.equal((await eve.post(`${at}/hi`, { base: '2', subject: 'x', html })).status, 403)
  t.equal((await eve.post(`${at}/hi/delete`)).status, 403)
  t.equal((await eve.post(`${at}/hi/test`, { from: 'a@sender.test' })).status, 403)
  const preview = await eve.post(`${at}/hi/preview`, { base: '2', subject: 'x', html, ...filled })
  t.equal(preview.status, 200)
  const other = await createAccount({ store, clock: systemClock }, 'Other')
  const bob = await logIn(posthorn, other.id, 'owner')
  t.equal((await bob.get(`${at}/hi`)).status, 404)
  t.equal((await bob.get(`/a/${other.id}/templates/hi`)).status, 404)
  const [, id = ''] = /\/-\/rendered\/([\w-]+)/.exec(preview.text) ?? []
  t.equal((await eve.get(`${at}/-/rendered/${id}`)).status, 200)
  t.equal((await bob.get(`/a/${other.id}/templates/-/rendered/${id}`)).status, 404)
})

t.test('what customers write is shown and never run', async (t) => {
  const hostile = '"><script>alert(1)</script>{{ x }}'
  await ann.post(`${at}/-/new`, {
    slug: 'bad',
    subject: hostile,
    html: `<p>${hostile}</p>`,
    textBody: hostile,
    variable: 'x',
    sample: '</textarea><script>alert(2)</script>',
  })
  for (const path of ['', '/bad', '/bad/versions', '/bad/versions/1']) {
    t.notMatch((await ann.get(at + path)).text, /<script>alert/, path)
  }
  const frame = await frameIn((await ann.get(`${at}/bad`)).text)
  t.match(
    frame.headers.get('content-security-policy'),
    /default-src 'none'.*; sandbox allow-popups/,
  )
})

t.test('a large template is refused in words, one at the limit has a page', async (t) => {
  const large = 'x'.repeat(256 * 1024)
  const fits = await ann.post(`${at}/-/new`, { slug: 'big', subject: 'S', html: large })
  t.equal(fits.to, `${at}/big`)
  const over = await ann.post(`${at}/-/new`, { slug: 'big2', subject: 'S', html: `${large}x` })
  t.equal(over.status, 422)
  t.match(over.text, /id="field-html-fault">A template&#39;s html may have at most 262144 bytes/)
  await call('PATCH', '/v1/templates/big', { body: { html: 'y\n'.repeat(100_000) } })
  const { text } = await ann.get(`${at}/big/versions/2`)
  t.ok(text.length < 150_000, `${text.length} characters of differences`)
})
