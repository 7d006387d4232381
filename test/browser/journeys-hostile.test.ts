// Thorough, turn 4: a browser visits every page with hostile texts in it.
// Whatever a customer, a recipient or a server writes stays text, on every page that can be reached.
import type { Page } from 'playwright-core'
import t from 'tap'
import { findPlan, loadPlans, setMarketingPlan } from '../../src/billing/index.js'
import { logIn } from '../support/log-in.js'
import { type Posthorn, startPosthorn } from '../support/posthorn.js'
import { missing } from '../support/tools.js'
import { launch, open, ownErrors } from './open.js'

// Each runs, or breaks out of its place, where it is written unescaped or taken for an address.
const payloads = [
  `"><script>hit()</script>`,
  `'><img src=x onerror=hit()>`,
  `</title></textarea></pre><svg onload=hit()>`,
  `javascript:hit()//`,
  `<iframe srcdoc="<script>parent.hit()</script>">`,
  `" autofocus onfocus=hit() x="`,
  `{{ 7 | times: 6 }}<%= hit() %>`,
]
const all = payloads.join(' ')
const mostPages = 160

t.test('no text of a customer runs on any page', { skip: missing('chromium') }, async (t) => {
  const posthorn = await startPosthorn(t)
  await fill(posthorn)
  const browser = await launch(t)
  for (const role of ['owner', 'operator'] as const) {
    const { page, errors } = await open(t, browser, 1280)
    const { cookie } = await logIn(posthorn, posthorn.accountId, role)
    const [name = '', value = ''] = cookie.split('=', 2)
    await page.context().addCookies([{ name, value, url: posthorn.url }])
    const hits: string[] = []
    await page.exposeFunction('hit', () => hits.push(page.url()))
    page.on('dialog', (dialog) => {
      hits.push(`${page.url()} ${dialog.message()}`)
      void dialog.dismiss()
    })
    const start = role === 'owner' ? [`/a/${posthorn.accountId}`, '/sandbox'] : ['/operator']
    const { seen, shown } = await crawl(page, posthorn.url, start)
    t.same(hits, [], `${role}: nothing ran`)
    // What the policy stops is a console error: it must have had nothing to stop.
    t.same(ownErrors(errors), [], `${role}: the browser has nothing to complain about`)
    t.ok(seen.length > 15, `${role} saw ${seen.length} pages`)
    t.ok(shown > 5, `${shown} pages of ${role} show what was written`)
  }
})

/** Follows the links of our own, and looks at one page of each kind. */
async function crawl(page: Page, origin: string, start: string[]) {
  const waiting = [...start]
  const kinds = new Map<string, number>()
  const seen: string[] = []
  let shown = 0
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    const kind = path.replace(/[0-9a-f]{8}-[0-9a-f-]{27}|\d+/g, '#').replace(/=[^&]*/g, '=')
    const times = kinds.get(kind) ?? 0
    if (times >= 1 || seen.length >= mostPages) continue
    kinds.set(kind, times + 1)
    seen.push(path)
    const answer = await page.goto(origin + path)
    t.ok((answer?.status() ?? 200) < 400, `${path} is answered`)
    if (((await page.locator('body').textContent()) ?? '').includes('hit()')) shown++
    const links = await page.evaluate<string[]>(
      `[...document.querySelectorAll('a[href]')].filter((one) => one.origin === location.origin && !one.hasAttribute('download'))
        .map((one) => one.pathname + one.search)`,
    )
    const bad = await page.evaluate<string[]>(
      // A link within a drawing has no parts of its own.
      `[...document.querySelectorAll('a[href]')].map((one) => new URL(one.getAttribute('href'), location.href).protocol)
        .filter((one) => !/^(https?|mailto):$/.test(one))`,
    )
    t.same(bad, [], `${path} leads to web addresses alone`)
    // No bytes that the browser would save, and nothing that customers do not write into.
    const ours = links.filter(
      (one) => !/\.(csv|json)\b|\/(source|download|attachments\/)|\/reference|\/html$/.test(one),
    )
    waiting.push(...ours)
  }
  return { seen, shown }
}

/** Puts the payloads into each field that a customer writes. */
async function fill({ call, store, accountId, until }: Posthorn): Promise<void> {
  await store.write(async (tx) => {
    await setMarketingPlan(
      tx,
      accountId,
      findPlan(loadPlans('config/plans.toml').marketing, 'Marketing Pro'),
    )
    await tx.updateTable('accounts').set({ name: all }).where('id', '=', accountId).execute()
  })
  const make = async (path: string, body: object) => {
    const { status, text, json } = await call('POST', path, { body })
    t.ok(status < 300, `${path}: ${text}`)
    return json.id as string
  }
  const html = `<p>${all.replaceAll('{{', '')}</p>`
  const line = all.replaceAll('{{', '').replaceAll('}}', '')
  await make('/v1/templates', { slug: 'hostile', subject: line, html, textBody: line })
  await make('/v1/topics', { name: line.slice(0, 60), description: line.slice(0, 200) })
  const list = await make('/v1/contacts/lists', { name: all.slice(0, 90) })
  await make(`/v1/contacts/${list}`, {
    email: 'ann@example.org',
    firstName: all.slice(0, 90),
    lastName: payloads[1],
    metadata: { [payloads[0] ?? '']: all },
  })
  await make('/v1/keys', { name: all.slice(0, 90), networks: ['127.0.0.0/8'] })
  await make('/v1/webhooks', {
    url: 'https://hooks.example.net/%22%3E%3Cscript%3Ehit()%3C/script%3E?a=%27',
    events: ['email.sent'],
  })
  await make('/v1/suppressions', {
    email: 'x@example.org',
    reason: 'manual',
    detail: all.slice(0, 200),
  })
  await make('/v1/broadcasts', {
    listId: list,
    from: 'a@sender.test',
    subject: line.slice(0, 200),
    html,
    name: all.slice(0, 90),
    draft: true,
  })
  await make('/v1/automations', {
    name: all.slice(0, 90),
    steps: [
      { key: 'start', type: 'trigger', config: { eventName: 'signup' } },
      { key: 'end', type: 'exit' },
    ],
    connections: [{ from: 'start', to: 'end', type: 'default' }],
  })
  const id = await make('/v1/emails/send', {
    from: `"${(payloads[0] ?? '').replaceAll('"', '')}" <a@sender.test>`,
    to: 'ann@example.org',
    subject: all,
    html,
    metadata: { note: all },
    replyTo: `"${payloads[4]?.replaceAll('"', '')}" <b@sender.test>`,
    attachments: [{ filename: `<script>hit()<.txt`, content: 'eA==' }],
    headers: { 'X-Note': line },
  })
  await until(id, ({ status }) => status === 'delivered')
}
