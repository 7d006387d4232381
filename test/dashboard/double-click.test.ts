// Every form of the product's pages that is sent by POST, found by walking through the pages, is sent three times: twice
// at once, as a double click does, and once more when the first answer is there, as over a slow line.
import t from 'tap'
import { type LoggedIn, logIn } from '../support/log-in.js'
import { startPosthorn } from '../support/posthorn.js'
import { addedRoutes } from './added-routes.js'
import { fillForOperator } from './operator-data.js'

const routes = addedRoutes()
const patterns = routes
  .filter(({ method }) => method === 'POST')
  .map(({ path }) => ({ path, pattern: new RegExp(`^${path.replace(/:[a-z]+/gi, '[^/]+')}$`) }))

/** What stands in fields that have no value of their own. */
const typed: Record<string, string> = {
  content: 'Hello Ann',
  name: 'Readers',
  slug: 'order-paid',
  email: 'new@people.test',
  to: 'ann@shop.test',
  subject: 'Hello',
  html: '<p>Hello</p>',
  url: 'https://hooks.shop.test/',
  note: 'seen',
  from: 'news@sender.test',
  addresses: 'gone@shop.test',
  domain: 'new.test',
  reason: 'seen',
}

interface Form {
  route: string
  action: string
  fields: Record<string, string>
}

const plain = (text: string) =>
  text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => entities[name] ?? '')
const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }

const attribute = (tag: string, name: string) => {
  const found = new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1]
  return found === undefined ? undefined : plain(found)
}

/** The forms of a page that are sent by POST, with what they are sent with if nobody types anything else. */
function formsOf(html: string, page: string): Form[] {
  return [...html.matchAll(/<form\b[^>]*method="post"[^>]*>([\s\S]*?)<\/form>/g)].map(
    ([all, inner = '']) => {
      const action = new URL(attribute(all, 'action') ?? page, 'http://x').pathname
      const fields: Record<string, string> = {}
      for (const [tag] of inner.matchAll(/<(input|button|textarea|select)\b[^>]*>/g)) {
        const name = attribute(tag, 'name')
        const type = attribute(tag, 'type')
        if (name === undefined || type === 'file') continue
        if ((type === 'checkbox' || type === 'radio') && !/\schecked/.test(tag)) continue
        fields[name] ??= attribute(tag, 'value') || typed[name] || ''
      }
      for (const [, select = '', options = ''] of inner.matchAll(
        /<select\b([^>]*)>([\s\S]*?)<\/select>/g,
      )) {
        const chosen =
          /<option\b[^>]*selected[^>]*>/.exec(options) ?? /<option\b[^>]*>/.exec(options)
        const name = attribute(select, 'name')
        if (name !== undefined && chosen) fields[name] = attribute(chosen[0], 'value') ?? ''
      }
      const route = patterns.find(({ pattern }) => pattern.test(action))?.path ?? action
      return { route, action, fields }
    },
  )
}

/** Walks through the pages from one on, and finds each form once, by its route and its fields. */
async function findForms(person: LoggedIn, from: string): Promise<Form[]> {
  const forms = new Map<string, Form>()
  const todo = [from]
  const seen = new Set<string>()
  const shapes = new Map<string, number>()
  for (let path = todo.shift(); path !== undefined; path = todo.shift()) {
    const { status, headers, text } = await person.get(path)
    if (status !== 200 || !headers.get('content-type')?.startsWith('text/html')) continue
    for (const form of formsOf(text, path)) {
      const key = `${form.route} ${Object.keys(form.fields)}`
      if (!forms.has(key)) forms.set(key, form)
    }
    for (const [, href = ''] of text.matchAll(/<a\b[^>]*\shref="([^"#]+)/g)) {
      const { pathname, host } = new URL(plain(href), 'http://x')
      // Two of a kind show what all of it do.
      const shape = pathname.replace(/[0-9a-f-]{8,}|\d+/g, ':')
      if (host !== 'x' || seen.has(pathname) || (shapes.get(shape) ?? 0) >= 2) continue
      if (/\/(static|health|live)/.test(pathname)) continue
      seen.add(pathname)
      shapes.set(shape, (shapes.get(shape) ?? 0) + 1)
      todo.push(pathname)
    }
  }
  return [...forms.values()]
}

t.test('what a form asks for is done once, however often it is sent', async (t) => {
  const posthorn = await startPosthorn(t)
  const { accountId, store } = posthorn
  await fillForOperator(posthorn)
  const body = { slug: 'hello', subject: 'Hello', html: '<p>Hello</p>' }
  await posthorn.call('PUT', '/v1/templates/hello', { body })
  const rows = async () => (await store.read.selectFrom('audit_log').select('id').execute()).length
  const done = new Set<string>()
  let found = 0
  let sent: { fields: Form['fields']; to: string } | undefined
  for (const [role, from] of [
    ['owner', `/a/${accountId}`],
    ['operator', '/operator'],
  ] as const) {
    const person = await logIn(posthorn, accountId, role)
    const forms = await findForms(person, from)
    found += forms.length
    // What ends the session comes last.
    forms.sort(
      (a, b) => Number(/logout|sessions/.test(a.route)) - Number(/logout|sessions/.test(b.route)),
    )
    for (const { route, action, fields } of forms) {
      t.match(fields['posthorn-once'], /^[0-9a-f-]{36}$/, `${route} has a value that is good once`)
      const before = await rows()
      const send = () => person.post(action, fields)
      const [one, two] = await Promise.all([send(), send()])
      const late = await send()
      const made = (await rows()) - before
      t.ok(made <= 1, `${route} is done ${made} times`)
      if (made === 1) {
        done.add(route)
        if (route === '/a/:account/emails/new') sent = { fields, to: one.to }
        for (const again of [two, late]) {
          t.same([again.status, again.to], [one.status, one.to], `${route} is answered alike`)
        }
      }
    }
  }
  t.comment(`${found} forms; done: ${[...done].sort().join(', ')}`)
  t.ok(done.size >= 20, `${done.size} of them did something`)
  // What the thread remembers is of one person: by another it is as if the appliance were started again.
  const other = await logIn(posthorn, accountId, 'owner')
  const again = await other.post(`/a/${accountId}/emails/new`, sent?.fields)
  t.match(again, { status: 303, to: sent?.to })
  const mails = await store.read
    .selectFrom('emails')
    .select('id')
    .where('account_id', '=', accountId)
    .where('subject', '=', 'Hello')
    .execute()
  t.equal(mails.length, 1, 'one mail is sent')
})
