// The pages about forms.
import t from 'tap'
import { loadPlans } from '../../src/billing/index.js'
import { systemClock as clock } from '../../src/clock/index.js'
import { createList } from '../../src/contacts/index.js'
import { brandPages } from '../../src/dashboard/brand/routes.js'
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
  const fresh = await get(`/forms/new?list=${chosen[0]}`)
  const isTicked = new RegExp(`value="${chosen[0]}" checked`)
  t.match(fresh.text, isTicked, 'the page of an old list leads to a form for it')
  t.match(fresh.text, 'The newest 100 are offered')
  t.match((await post('/forms/new', { name: '', lists: [chosen[0] ?? ''] })).text, isTicked)
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
  t.match(refused.text, /href="#field-lists">Lists: Choose at least one</)
  t.notMatch(refused.text, /Expected /)
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
  const { text: shown } = await get(`/forms/${form.id}`)
  t.match(shown, /E-Mail-Adresse &lt;input[\s\S]*&lt;button&gt;Anmelden/, 'and so is its HTML')

  // Two tabs: what the earlier one has saved is not taken back without a word.
  const revision = /name="revision" value="([^"]+)"/
  const opened = { revision: revision.exec((await get(path)).text)?.[1] ?? '' }
  const mine = { ...typed, ...rows, ...opened, lists: ticked, doubleOptIn: 'on' }
  t.equal((await post(path, { ...mine, consent: 'News and offers?' })).status, 303)
  const late = await post(path, { ...mine, consent: 'A <third> text?' })
  t.equal(late.status, 422)
  t.match(late.text, /Changed meanwhile by [\s\S]*What they agree to: News and offers\?/)
  t.match(late.text, 'A &lt;third&gt; text?', 'what was typed stays')
  t.equal((await findForm(store.read, accountId, form.id)).settings.consent, 'News and offers?')
  t.match(late.text, `name="revision" value="${opened.revision}"`)
  const over = /name="over" value="([^"]+)"/.exec(late.text)?.[1] ?? ''
  t.equal((await post(path, { ...mine, consent: 'A <third> text?', over })).status, 303)
  t.equal((await findForm(store.read, accountId, form.id)).settings.consent, 'A <third> text?')
})

t.test(
  'all that is wrong with a form is told at once, each at its field, and what was typed stays',
  async (t) => {
    const plans = loadPlans('config/plans.toml')
    const publicUrl = 'https://mail.example.com'
    const { store, accountId, get, post } = await startAccountPages(t, ({ account }, { store }) => {
      formPlacePages(account, { store, clock, plans, publicUrl })
      brandPages(account, { store, clock, publicUrl, sampleForm: async () => '' })
    })
    await createList({ store, clock }, accountId, 'News')
    const typed = {
      name: ' ',
      lists: [],
      topics: [],
      consent: 'News?',
      language: 'en',
      keepAddress: 'none',
      from: 'nobody',
      thanksUrl: 'http://shop.test/',
      origins: 'https://www.shop.test\nshop.test/signup',
      fieldName: ['', '', ''],
      fieldLabel: ['Town', 'x'.repeat(90), 'Size'],
      fieldType: ['firstName', 'text', 'choice'],
      fieldRequired: ['no', 'yes', 'no'],
      fieldChoices: ['', '', ' '],
    }
    const { status, text } = await post('/forms/new', typed)
    t.equal(status, 422)
    for (const [field, says] of [
      ['name', 'Fill this in'],
      ['lists', 'Choose at least one'],
      ['from', 'Write an address such as news@example.com'],
      ['thanksUrl', 'Write an address that begins with https://'],
      [
        'acceptRisk',
        'Without a confirmation anybody can sign up anybody: have people confirm, or tick that you accept it',
      ],
      [
        'origins',
        'Number 2: Write the address of a site without a path, such as https://www.example.com',
      ],
      ['label-1', 'Write at most 80 characters; there are 90'],
      ['choices-2', 'Write what there is to choose from, each on a line'],
    ] as const) {
      t.match(text, `id="field-${field}-fault">${says}</p>`, field)
    }
    t.match(text, 'href="#field-name">Name: Fill this in</a>', 'above the page with its label')
    t.match(text, 'href="#field-label-1">Question 2: Write at most')
    t.match(text, 'value="http://shop.test/"')
    t.match(text, /value="Town"[\s\S]*value="firstName" selected/, 'rows keep what was typed')
    t.notMatch(text, /Expected |thanksUrl is|acceptRisk if/)
    t.match((await get('/forms/new')).text, /label-0"[\s\S]*More questions[\s\S]*label-1"/)
    const twice = { ...typed, fieldType: ['firstName', 'firstName', 'text'] }
    t.match((await post('/forms/new', twice)).text, /id="field-type-1-fault">Another question asks/)

    const brand = {
      background: '#ffffff',
      text: '#777777',
      button: 'red',
      buttonText: '#ffffff',
      postalAddress: 'x'.repeat(600),
      languages: [],
      senderName: 'Shop',
      defaultFrom: 'nobody',
    }
    const refused = await post('/brand', brand)
    t.equal(refused.status, 422)
    for (const [field, says] of [
      ['text', 'The text on its background has a contrast of 4.4'],
      ['button', 'Write a colour, such as #0a5a9c'],
      ['postalAddress', 'Write at most 500 characters; there are 600'],
      ['languages', 'Choose at least one'],
      ['defaultFrom', 'Write an address such as news@example.com'],
    ] as const) {
      t.match(refused.text, `id="field-${field}-fault">${says}`, field)
    }
    t.match(refused.text, /name="button"[^>]*value="red"/, 'what was typed stays')
    t.notMatch(refused.text, /Expected |defaultFrom is|id="field-buttonText-fault"/)
    const [, revision = ''] = /name="revision" value="([^"]+)"/.exec(refused.text) ?? []
    const good = { ...brand, text: '#000000', button: '#14532d', postalAddress: 'Lagos' }
    const mine = { ...good, languages: ['en'], defaultFrom: '', revision }
    t.equal((await post('/brand', { ...mine, postalAddress: 'Abuja' })).status, 303)
    const elsewhere = { ...mine, postalAddress: 'Abuja', defaultFrom: 'news@elsewhere.example' }
    const [, now = ''] = /name="revision" value="([^"]+)"/.exec((await get('/brand')).text) ?? []
    t.equal((await post('/brand', { ...elsewhere, revision: now })).status, 303)
    t.match((await get('/brand')).text, 'elsewhere.example is none of your verified domains')
    const late = await post('/brand', mine)
    t.match(late, { status: 422, text: /Changed meanwhile by [\s\S]*Postal address: Abuja/ })
    t.match(late.text, />\s*Lagos<\/textarea>/, 'what was typed stays')
  },
)
