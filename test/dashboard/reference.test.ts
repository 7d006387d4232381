import t from 'tap'
import { createAccount, openApplianceAccount } from '../../src/accounts/index.js'
import { findPlan, loadPlans, setMarketingPlan } from '../../src/billing/index.js'
import { systemClock } from '../../src/clock/index.js'
import { listOperations } from '../../src/dashboard/reference/operation.js'
import type { Document } from '../../src/openapi/index.js'
import { logIn } from '../support/log-in.js'
import { startPosthorn } from '../support/posthorn.js'

const page = async (url: string, path: string) => {
  const response = await fetch(url + path)
  return { status: response.status, text: await response.text() }
}
const unescaped = (text: string) =>
  text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')

t.test('every request and webhook has its page, which is small', async (t) => {
  const { url, call } = await startPosthorn(t)
  const document: Document = (await call('GET', '/v1/openapi.json')).json
  const all = listOperations(document)
  t.ok(all.length > 80)
  const list = (await page(url, '/reference')).text
  t.ok(list.length < 60_000, `${list.length} characters`)
  for (const { id, path } of all) {
    t.match(list, `href="/reference/${id}"`)
    const { status, text } = await page(url, `/reference/${id}`)
    t.equal(status, 200, id)
    t.ok(text.includes(`<code>${path}</code>`), id)
    t.ok(text.length < 60_000, `${id}: ${text.length} characters`)
  }
  const send = (await page(url, '/reference/sendEmail')).text
  for (const word of ['domain_not_verified', 'Idempotency-Key', 'attachments[].filename', 'Svc-']) {
    t.equal(send.includes(word), word !== 'Svc-', word)
  }
  t.equal((await page(url, '/reference/nothing')).status, 404)
})

t.test('the examples that the pages show work as they stand', async (t) => {
  const posthorn = await startPosthorn(t)
  const { url, call, store, accountId } = posthorn
  await store.write((tx) =>
    setMarketingPlan(
      tx,
      accountId,
      findPlan(loadPlans('config/plans.toml').marketing, 'Marketing Pro'),
    ),
  )
  const document: Document = (await call('GET', '/v1/openapi.json')).json
  const all = listOperations(document)
  const made = async (path: string, body: object) => {
    const answer = await call('POST', path, { body })
    t.ok(answer.status < 300, `${path}: ${answer.text}`)
    return answer.json.id as string
  }
  const welcome = { slug: 'welcome', subject: 'Welcome', html: '<p>Hi {{ name }}</p>' }
  await made('/v1/templates', { ...welcome, subject: 'Welcome, {{ name }}' })
  const list = await made('/v1/contacts/lists', { name: 'Everybody' })
  const contact = await made(`/v1/contacts/${list}`, {
    email: 'cy@example.org',
    phone: '08031234567',
  })
  const topic = await made('/v1/topics', { name: 'Sales' })
  const campaign = {
    listId: list,
    from: 'a@sender.test',
    subject: 'x',
    html: '<p>x</p>',
    draft: true,
  }
  const { json: own } = await call('GET', '/v1/domains')
  const sender = own.domains.find(({ name }: { name: string }) => name === 'sender.test')
  await call('PATCH', `/v1/domains/${sender.id}`, { body: { receivingHost: 'in.sender.test' } })
  const ids: Record<string, string> = {
    '/v1/receiving/rules/{id}': await made('/v1/receiving/rules', {
      pattern: '*@in.sender.test',
      action: 'store',
    }),
    '/v1/contacts/lists/{id}': list,
    '/v1/contacts/{listId}': list,
    '/v1/contacts/all/{id}': contact,
    '/v1/topics/{id}': topic,
    '/v1/contact-fields/{id}': await made('/v1/contact-fields', {
      name: 'size',
      label: 'Size',
      type: 'text',
    }),
    '/v1/forms/{id}': await made('/v1/forms', { name: 'One', lists: [list], consent: 'News?' }),
    '/v1/segments/{id}': await made('/v1/segments', {
      name: 'One',
      rule: { field: 'mailable', operator: 'eq', value: true },
    }),
    '/v1/pictures/{id}': await made('/v1/pictures', {
      name: 'dot.gif',
      content: 'R0lGODlhAQABAIAAAP///wAAACwAAAAAAQABAAACAkQBADs=',
    }),
    '/v1/broadcasts/{id}': await made('/v1/broadcasts', campaign),
    '/v1/webhooks/{id}': await made('/v1/webhooks', {
      url: 'https://hooks.example.net/',
      events: ['email.sent'],
    }),
    '/v1/domains/{id}': await made('/v1/domains', { name: 'shop.example.net' }),
    '/v1/keys/{id}': await made('/v1/keys', { name: 'Another', networks: ['127.0.0.0/8'] }),
    '/v1/templates/{slug}': 'welcome',
  }
  // Whoever is asked by mail first gets it from there.
  await call('PATCH', '/v1/brand', { body: { defaultFrom: 'news@sender.test' } })
  let tried = 0
  for (const { id, method, path } of all) {
    const { text } = await page(url, `/reference/${id}`)
    t.notMatch(
      text,
      /(?:From|from)&quot;: &quot;[^&]*@example\.com/,
      `${id} sends from a domain that is there`,
    )
    for (const [, escaped = ''] of text.matchAll(/data-example="([^"]*)"/g)) {
      const body = JSON.parse(
        unescaped(escaped)
          .replaceAll('01a1fc92-9915-7533-8296-0a5be7d1c2f3', list)
          .replaceAll(
            'in.example.com',
            id === 'updateDomain' ? 'in.shop.example.net' : 'in.sender.test',
          )
          .replaceAll('01a1fc92-0000-7000-8000-5f0e1c2d3b4a', topic),
      )
      if (id === 'createTemplate') body.slug = `another-${tried}`
      if (path.includes('/automations/{id}')) continue
      const key = Object.keys(ids).find((start) => path.startsWith(start))
      const target = path.replace(/\{(?:id|listId|slug)\}/, ids[key ?? ''] ?? '')
      const answer = await call(method, target, { body })
      t.ok(answer.status < 300, `${id} ${target}: ${answer.status} ${answer.text}`)
      tried++
      // The example switches it off; what comes next asks it for more.
      if (id === 'updateWebhook') await call(method, target, { body: { enabled: true } })
      if (id === 'updateForm') await call(method, target, { body: { archived: false } })
    }
  }
  t.ok(tried > 30, `${tried} examples`)
})

t.test('an account is not told of the domains of another', async (t) => {
  const posthorn = await startPosthorn(t, { env: { POSTHORN_OUTBOUND_ROUTE: 'direct' } })
  const { url, store } = posthorn
  t.match((await page(url, '/reference/sendEmail')).text, '@sender.test', 'of the only account')
  // It comes with the first mail to the operator, and is nobody's.
  await store.write(openApplianceAccount)
  t.match((await page(url, '/reference/sendEmail')).text, '@sender.test', 'and it is that still')
  const other = await createAccount({ store, clock: systemClock }, 'Other')
  const open = (await page(url, '/reference/sendEmail')).text
  t.notMatch(open, 'sender.test')
  t.match(open, 'a verified domain of yours')
  const stranger = await logIn(posthorn, other.id, 'owner')
  t.notMatch((await stranger.get('/reference/sendEmail')).text, 'sender.test')
  const owner = await logIn(posthorn, posthorn.accountId, 'viewer')
  const { text } = await owner.get('/reference/sendEmail')
  t.match(text, 'Recipients of a copy, whom nobody sees', 'a field that may be null is described')
  t.match((await owner.get('/reference/sendEmail')).text, '@sender.test')
})
