// Every form of the product's pages that is sent by POST, found by walking through the pages, is sent three times: twice
// at once, as a double click does, and once more when the first answer is there, as over a slow line.
import t from 'tap'
import { logIn } from '../support/log-in.js'
import { startPosthorn } from '../support/posthorn.js'
import { type FoundForm, findForms } from './found-forms.js'
import { fillForOperator } from './operator-data.js'

t.test('what a form asks for is done once, however often it is sent', async (t) => {
  const posthorn = await startPosthorn(t)
  const { accountId, store } = posthorn
  await fillForOperator(posthorn)
  const body = { slug: 'hello', subject: 'Hello', html: '<p>Hello</p>' }
  await posthorn.call('PUT', '/v1/templates/hello', { body })
  const rows = async () => (await store.read.selectFrom('audit_log').select('id').execute()).length
  const done = new Set<string>()
  let found = 0
  let sent: { fields: FoundForm['fields']; to: string } | undefined
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
      t.match(fields['posthorn-once'], /^1-[\w-]{24}$/, `${route} has a value that is good once`)
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
