// The pages about forms.
import t from 'tap'
import { loadPlans } from '../../src/billing/index.js'
import { systemClock as clock } from '../../src/clock/index.js'
import { createList } from '../../src/contacts/index.js'
import { formPlacePages } from '../../src/dashboard/forms/routes.js'
import { createForm, findForm, usualConsent } from '../../src/forms/index.js'
import { startAccountPages } from './account-pages.js'

t.test('a form on old lists keeps them, of an account with more than a page has', async (t) => {
  const plans = loadPlans('config/plans.toml')
  const publicUrl = 'https://mail.example.com'
  const { store, accountId, get, post } = await startAccountPages(t, ({ account }, { store }) =>
    formPlacePages(account, { store, clock, plans, publicUrl }),
  )
  const deps = { store, clock }
  const lists: string[] = []
  for (let n = 0; n < 103; n++) lists.push((await createList(deps, accountId, `List ${n}`)).id)
  const chosen = lists.slice(0, 2)
  const form = await createForm(deps, accountId, { name: 'F', lists: chosen, consent: 'News?' })
  const path = `/forms/${form.id}/edit`
  const { text } = await get(path)
  const ticked = [...text.matchAll(/<input[^>]*>/g)]
    .map(([input]) => input)
    .filter((input) => /name="lists"/.test(input) && / checked/.test(input))
    .map((input) => /value="([^"]*)"/.exec(input)?.[1] ?? '')
  t.same(ticked.sort(), [...chosen].sort(), 'ticked, as old as they are')
  const rows = { fieldName: [], fieldLabel: [], fieldType: [], fieldRequired: [], fieldChoices: [] }
  const typed = { name: 'G', consent: 'News?', language: 'en', keepAddress: 'none', topics: [] }
  const asked = {
    fieldName: ['', ''],
    fieldLabel: ['Your first name', ''],
    fieldType: ['firstName', 'text'],
    fieldRequired: ['yes', 'no'],
    fieldChoices: ['', ''],
  }
  const refused = await post(path, { ...typed, ...asked, lists: [], doubleOptIn: 'on' })
  t.equal(refused.status, 422)
  t.match(refused.text, /Tick at least one list/)
  t.notMatch(refused.text, /Expected an array/)
  const thanks = {
    ...typed,
    ...asked,
    lists: ticked,
    doubleOptIn: 'on',
    thanksUrl: 'http://x.test/',
  }
  const unsafe = await post(path, thanks)
  t.match([unsafe.status, unsafe.text], [422, /Write an address that begins with https/])
  t.match(
    refused.text,
    /value="Your first name"[\s\S]*value="firstName" selected/,
    'questions stay',
  )
  const saved = await post(path, { ...typed, ...rows, lists: ticked, doubleOptIn: 'on' })
  t.equal(saved.status, 303, saved.text.slice(0, 400))
  const { name, settings } = await findForm(store.read, accountId, form.id)
  t.match({ name, lists: settings.lists.slice().sort() }, { name: 'G', lists: ticked })

  // What nobody has changed of the usual consent is said in the form's language.
  const usual = { ...typed, ...rows, lists: ticked, doubleOptIn: 'on', language: 'de' }
  t.equal((await post(path, Object.assign(usual, { consent: usualConsent('en') }))).status, 303)
  const { settings: german } = await findForm(store.read, accountId, form.id)
  t.equal(german.consent, usualConsent('de'))
})
