// A form that is refused shows all that was typed again (WCAG 2.2, 3.3.7), whichever page it is of: every form that a walk
// through the pages finds is filled with what few fields take.
import t from 'tap'
import { loadPlans, setMarketingPlan } from '../../src/billing/index.js'
import { packageFile } from '../../src/config/index.js'
import { logIn } from '../support/log-in.js'
import { startPosthorn } from '../support/posthorn.js'
import { findForms } from './found-forms.js'
import { fillForOperator } from './operator-data.js'

// What ends a session, or takes away what other forms are of.
const last = /logout|sessions|delete|erase|cancel|remove|archive|leave/
// What is asked for anew, as the page says.
// Samples are of the variables that a template names, and these are other ones then.
const never = /password|code|secret|token|^sample$/i

t.test('what was typed into a form that is refused is there again', async (t) => {
  const posthorn = await startPosthorn(t)
  const { accountId, store } = posthorn
  await fillForOperator(posthorn)
  const plan = loadPlans(packageFile('config/plans.toml')).marketing.at(-1) ?? null
  await store.write((tx) => setMarketingPlan(tx, accountId, plan))
  const call = (path: string, body: object) => posthorn.call('POST', path, { body })
  await call('/v1/templates', { slug: 'hello', subject: 'Hello', html: '<p>Hello</p>' })
  const list = (await call('/v1/contacts/lists', { name: 'Readers' })).json
  await call(`/v1/contacts/${list.id}`, { email: 'ann@x.test', metadata: { town: 'Lagos' } })
  const rule = { field: 'contact.metadata.town', operator: 'eq', value: 'Lagos' }
  await call('/v1/segments', { name: 'In Lagos', rule })
  await call('/v1/topics', { name: 'News' })
  const from = 'News <news@sender.test>'
  const draft = { draft: true, listId: list.id, from, subject: 'Hi', html: '<p>x</p>' }
  await call('/v1/broadcasts', draft)
  await call('/v1/broadcasts', { ...draft, variants: [{ subject: 'A' }, { subject: 'B' }] })
  await call('/v1/forms', { name: 'Sign up', lists: [list.id], consent: 'Yes' })
  const owner = await logIn(posthorn, accountId, 'owner')
  const forms = (await findForms(owner, `/a/${accountId}`)).filter(({ route }) => !last.test(route))
  const refused = new Set<string>()
  for (const { route, action, fields, typed } of forms) {
    // Rows of fields need all of theirs, which a walk does not see.
    const isAlone = (name: string) => typed.indexOf(name) === typed.lastIndexOf(name)
    const names = typed.filter((name) => !never.test(name) && isAlone(name))
    if (names.length === 0) continue
    for (const odd of [(n: number) => `Zz${n} <odd`, (n: number) => `Zz${n}${'y'.repeat(2_100)}`]) {
      const given = Object.fromEntries(names.map((name, n): [string, string] => [name, odd(n)]))
      const answer = await owner.post(action, { ...fields, ...given })
      t.ok(answer.status < 500, `${route}: ${answer.status}`)
      if (answer.status !== 422) continue
      refused.add(route)
      const lost = names.filter((_, n) => !answer.text.includes(`Zz${n}`))
      t.same(lost, [], `${route} ${names}`)
    }
  }
  t.comment([...refused].join(' '))
  t.ok(refused.size >= 12, `${refused.size} forms were refused`)
})
