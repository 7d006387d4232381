// A form whose confirmations come back: its account hears of it by mail, on Overview and in the audit log.
import t from 'tap'
import { eventually } from '../support/eventually.js'
import { logIn } from '../support/log-in.js'
import { fillIn, makeForm, stampOf, startWithForms } from '../support/signup-forms.js'

t.test('owners are told once that a form is careful, and once that it has stopped', async (t) => {
  const posthorn = await startWithForms(t)
  const { accountId, store } = posthorn
  const owner = await logIn(posthorn, accountId, 'owner')
  const base = `/a/${accountId}`
  const form = await makeForm(posthorn, { name: 'Told <of>' })
  const page = `${base}/forms/${form.id}`
  const stamp = stampOf(posthorn, form.page)
  const state = async () => (await posthorn.call('GET', `/v1/forms/${form.id}`)).json.state
  let network = 0
  const bounce = async (most: number, until: string) => {
    for (let n = 0; n < most; n++) {
      await fillIn(posthorn, form.page, `bounced+f${++network}@simulator.posthorn.test`, {
        stamp,
        from: `198.51.${network}.1`,
      })
    }
    await eventually(async () => (await state()) === until, 20_000)
  }
  const subjects = async () =>
    (await store.read.selectFrom('emails').select('subject').execute())
      .map(({ subject }) => subject)
      .filter((subject) => subject.startsWith('The form "Told'))
  const overview = async () => (await owner.get(base)).text
  t.notMatch(await overview(), 'Told &lt;of&gt;')
  await bounce(4, 'careful')
  await eventually(async () => (await subjects()).length === 1, 20_000)
  t.match((await subjects())[0], 'is careful')
  t.match(await overview(), /The form “Told &lt;of&gt;” is careful/)
  const careful = await posthorn.call('GET', `/v1/forms/${form.id}`)
  t.match(careful.json, { figures: { lately: { mails: 4, bounces: 4, complaints: 0 } } })
  t.match(careful.json.carefulUntil, /^\d{4}-/)
  t.match((await owner.get(page)).text, /Until [^<]+ it asks browsers/)
  await bounce(12, 'stopped')
  await eventually(async () => (await subjects()).length === 2, 20_000)
  t.match((await subjects()).join(), 'has stopped')
  t.match(await overview(), /The form “Told &lt;of&gt;” has stopped itself/)
  const { text } = await owner.get(`${base}/audit`)
  t.match(text, 'Form became careful: confirmations came back')
  t.match(text, 'Form stopped itself: too many confirmations came back')
  t.match((await owner.get(page)).text, 'Once you let it go on, it is careful for seven days')
})
