// Thorough, turn 2: a browser writes campaigns whose blocks change as a whole, or are not finished.
import type { Locator } from 'playwright-core'
import t, { type Test } from 'tap'
import { findPlan, loadPlans, setMarketingPlan } from '../../src/billing/index.js'
import { packageFile } from '../../src/config/index.js'
import { logIn } from '../support/log-in.js'
import { startPosthorn } from '../support/posthorn.js'
import { missing } from '../support/tools.js'
import { buildScripts, launch, open } from './open.js'

const skip = missing('chromium')

async function newCampaign(t: Test) {
  buildScripts()
  const posthorn = await startPosthorn(t)
  const { url, accountId, store } = posthorn
  const plans = loadPlans(packageFile('config/plans.toml'))
  const plan = findPlan(plans.marketing, 'Marketing Plus')
  await store.write((tx) => setMarketingPlan(tx, accountId, plan))
  const { cookie } = await logIn(posthorn, accountId, 'owner')
  const [name = '', value = ''] = cookie.split('=')
  const { page, errors } = await open(t, await launch(t), 1280)
  await page.context().addCookies([{ name, value, url }])
  await page.goto(`${url}/a/${accountId}/campaigns/new`)
  const status = page.locator('[data-kept]')
  const kept = status.getByText('Kept', { exact: true })
  const stored = async () => {
    const [row] = await store.read.selectFrom('broadcasts').selectAll().execute()
    return { subject: row?.subject, blocks: row?.blocks ?? '', id: row?.id }
  }
  const press = (label: string) => page.getByRole('button', { name: label, exact: true }).click()
  return { page, errors, status, kept, stored, press, cookie, url, accountId, posthorn }
}

t.test('a layout that is chosen on a kept draft is kept, and asks first', { skip }, async (t) => {
  const { page, errors, kept, stored, press, cookie, url, accountId } = await newCampaign(t)
  await page.getByLabel('Subject').fill('Autumn')
  // Return presses no layout.
  await page.getByLabel('Subject').press('Enter')
  await page.waitForLoadState()
  t.notMatch(await page.locator('#block-0').innerHTML(), 'The name of your newsletter')
  await page.goto(`${url}/a/${accountId}/campaigns/new`)
  await page.getByLabel('Subject').fill('Autumn')
  await kept.waitFor()
  await press('Digest')
  await page
    .locator('#block-0 input[value="This week, in five minutes"]')
    .waitFor({ state: 'attached' })
  await kept.waitFor()
  t.match((await stored()).blocks, 'This week, in five minutes')
  // At once, before it is kept.
  await press('Welcome')
  await page.locator('input[value*="good to have you"]').waitFor({ state: 'attached' })
  await page.getByRole('link', { name: 'Check and send' }).click()
  await page.waitForURL(/\/send$/)
  t.match(
    (await stored()).blocks,
    'Three things to begin with',
    'what is checked is what was shown',
  )

  const here = `${url}/a/${accountId}/campaigns/${(await stored()).id}`
  await page.goto(here)
  await page.locator('#block-1 .fold').click()
  await page.getByLabel('Words', { exact: true }).nth(1).fill('Own words')
  await kept.waitFor()
  await page.reload()
  await page.getByText('Begin anew with a layout').click()
  await press('Digest')
  await press('Keep what I have')
  await page.getByText('Begin anew with a layout').click()
  t.match((await stored()).blocks, 'Own words')
  await press('Digest')
  await press('Put it in their place')
  await page
    .locator('#block-0 input[value="This week, in five minutes"]')
    .waitFor({ state: 'attached' })
  await kept.waitFor()
  t.notMatch((await stored()).blocks, 'Own words')
  t.same(errors, [])

  // Without script, what is shown is to be saved before it is checked.
  const form = new URLSearchParams({ from: 'a@x.test', document: '{}', layout: 'event' })
  const headers = { cookie, origin: url }
  const sent = await fetch(`${here}/preview`, { method: 'POST', headers, body: form })
  const shown = await sent.text()
  t.match(shown, 'The name of your event')
  t.notMatch(shown, 'Check and send</a>')
})

t.test('a card that is not finished holds up nothing else', { skip }, async (t) => {
  const { page, errors, kept, status, stored, press } = await newCampaign(t)
  const card = (at: number) => page.locator(`#block-${at}`)
  await page.getByLabel('Subject').fill('Autumn')
  await kept.waitFor()
  await card(0).getByLabel('Then').last().selectOption('Picture')
  await card(0).getByRole('button', { name: 'Add', exact: true }).last().click()
  await page.locator('#block-1 legend', { hasText: 'Picture' }).waitFor()
  t.notMatch(
    await card(1).textContent(),
    'There is none yet',
    'who has just added it did nothing wrong',
  )
  await page.getByLabel('Subject').fill('Winter')
  await status.getByText('Kept, but for what is not finished: Picture 2').waitFor()
  t.match(await stored(), { subject: 'Winter' })
  await page.getByLabel('Words', { exact: true }).nth(1).fill('Snow {{ firstName')
  await status.getByText('not finished: Picture 2, Text 3').waitFor()
  t.match((await stored()).blocks, 'Write here what you have to say', 'the card stays as it was')
  await page.getByLabel('Words', { exact: true }).nth(1).fill('Snow falls')
  await status.getByText(/not finished: Picture 2$/).waitFor()
  t.match((await stored()).blocks, 'Snow falls')
  await page.locator('#preview').getByText('Autumn').waitFor({ state: 'detached' })
  t.match(await page.locator('#preview').textContent(), 'Snow falls')
  const asked = page.waitForEvent('dialog')
  const leaving = page.getByRole('link', { name: '← Campaigns' }).click()
  const dialog = await asked
  t.equal(dialog.type(), 'beforeunload', 'who leaves is told')
  await dialog.dismiss()
  await leaving
  await page.getByRole('link', { name: 'Check and send' }).click()
  await page.getByText('are not finished: Picture 2').waitFor()
  await page.goBack()
  await page.reload()
  await card(1).getByText('There is none yet: choose').waitFor()
  await press('Remove: Picture 2')
  await kept.waitFor()
  t.same(
    errors.filter((error) => !/422/.test(error)),
    [],
  )
})

t.test('a picture that is chosen says what it shows', { skip }, async (t) => {
  const { page, errors, kept, stored, url, accountId, posthorn } = await newCampaign(t)
  const dot = 'R0lGODlhAQABAIAAAP///wAAACwAAAAAAQABAAACAkQBADs='
  const body = { name: 'dot.gif', alt: 'A white dot', content: dot }
  const picture = (await posthorn.call('POST', '/v1/pictures', { body })).json
  await page.goto(`${url}/a/${accountId}/campaigns/new`)
  await page.getByLabel('Subject').fill('Autumn')
  await kept.waitFor()
  const card = page.locator('#block-0')
  await card.getByLabel('Then').last().selectOption('Picture')
  await card.getByRole('button', { name: 'Add', exact: true }).last().click()
  const address = page.getByLabel('Address of the picture')
  await address.waitFor()
  t.equal(await address.inputValue(), '', 'a browser offers all pictures')
  await address.fill(picture.url)
  await address.blur()
  t.equal(await page.getByLabel('What it shows').inputValue(), 'A white dot')
  await kept.waitFor()
  t.match((await stored()).blocks, '"alt":"A white dot"')
  await page.frameLocator('iframe[title="The mail as HTML"]').getByAltText('A white dot').waitFor()
  t.same(errors, [], 'the preview shows the account’s own pictures')
})

t.test(
  'a new draft is whole once it is kept, and is not lost to another window',
  { skip },
  async (t) => {
    const { page, kept, stored, posthorn, url, accountId } = await newCampaign(t)
    const { id: listId } = (
      await posthorn.call('POST', '/v1/contacts/lists', { body: { name: 'Readers' } })
    ).json
    await posthorn.call('POST', `/v1/contacts/${listId}`, { body: { email: 'ada@x.test' } })
    await page.goto(`${url}/a/${accountId}/campaigns/new`)
    const hint = page.locator('#field-subject-hint')
    await page.getByLabel('Subject').fill('{{ firstName | default: "Friend" }}, our week 48')
    await hint.getByText('it has 19.').waitFor()
    await page.getByLabel('Readers').first().check()
    await page.locator('[data-counted]').getByText('1 person, of whom 1').waitFor()
    await page.getByLabel('Subject').fill('Week 48')
    await kept.waitFor()
    t.ok(await isInView(kept), 'whoever types sees that it is kept')
    t.match(await page.locator('h1').textContent(), /^Week 48/)
    for (const part of [
      'Send a test',
      'Files',
      'Test several versions',
      'Must everybody get it?',
    ]) {
      t.equal(await page.getByRole('heading', { name: part }).count(), 1, part)
    }

    const other = await page.context().newPage()
    await other.goto(page.url())
    await page.getByLabel('Subject').fill('Theirs')
    await kept.waitFor()
    await other.getByLabel('Subject').fill('Mine')
    const told = other.locator('[data-kept]')
    await told.getByText('Somebody else has saved this draft').waitFor()
    t.ok(await isInView(told), 'whoever types sees that it is not kept')
    await told.getByRole('button', { name: 'Save mine in its place' }).click()
    await other.waitForLoadState()
    t.match(await stored(), { subject: 'Mine' })

    // What was sent meanwhile is told as that, and what was typed can be a draft of its own.
    const { id } = await stored()
    await posthorn.store.write((tx) =>
      tx
        .updateTable('broadcasts')
        .set({ status: 'scheduled' })
        .where('id', '=', id ?? '')
        .execute(),
    )
    await other.getByLabel('Subject').fill('Late')
    await told.getByText('is no draft any more, as somebody has sent it').waitFor()
    await told.getByRole('button', { name: 'Make a new draft of it' }).click()
    await other.waitForURL(
      (at) => /\/campaigns\/[0-9a-f-]{36}$/.test(at.pathname) && !at.pathname.endsWith(`${id}`),
    )
    t.equal(await other.getByLabel('Subject').inputValue(), 'Late')
  },
)

async function isInView(one: Locator): Promise<boolean> {
  const { y, height } = (await one.boundingBox()) ?? { y: -1, height: 0 }
  return y >= 0 && y + height <= (one.page().viewportSize()?.height ?? 0)
}

t.test('what is sent while it is being kept waits for that', { skip }, async (t) => {
  const { page, errors, kept, press, stored, posthorn } = await newCampaign(t)
  await page.getByLabel('Subject').fill('Autumn')
  await kept.waitFor()
  await page.getByLabel('Subject').fill('Winter')
  await page.waitForTimeout(1_500)
  // Somebody else writes for some time, so that what is kept waits.
  const written = posthorn.store.write(() => new Promise<void>((done) => setTimeout(done, 3_000)))
  await page.getByText('Keeping it…').waitFor()
  await press('Save and check')
  await page.waitForURL(/\/send$/)
  await written
  t.match(await stored(), { subject: 'Winter' })
  t.same(errors, [])
})

t.test('what was typed on leaving is waited for before it is sent', { skip }, async (t) => {
  const { page, kept, stored, posthorn, accountId, url } = await newCampaign(t)
  const list = (await posthorn.call('POST', '/v1/contacts/lists', { body: { name: 'Readers' } }))
    .json
  await posthorn.call('POST', `/v1/contacts/${list.id}`, { body: { email: 'ann@x.test' } })
  await page.goto(`${url}/a/${accountId}/campaigns/new?with=html`)
  await page.getByLabel('Subject').fill('Autumn')
  await page.getByRole('checkbox', { name: 'Readers' }).first().check()
  await page.getByRole('textbox', { name: 'HTML' }).click()
  await page.keyboard.insertText('<p>Hello {{ unsubscribe_footer }}</p>')
  await kept.waitFor()
  const { id = '' } = await stored()
  await page.goto(`${url}/a/${accountId}/campaigns/${id}/send`)
  await page.getByRole('button', { name: 'Send it' }).waitFor()
  // As it is when somebody leaves the draft's page a moment after the last key, and is here before what they typed.
  const { json } = await posthorn.call('GET', `/v1/broadcasts/${id}`)
  const shown = await page.locator('form[data-draft] input[name=revision]').inputValue()
  await page.evaluate(
    `sessionStorage.setItem('keeping /a/${accountId}/campaigns/${id}', '${shown}')`,
  )
  await page.reload()
  await page.getByRole('button', { name: 'Send it' }).click()
  await posthorn.call('PATCH', `/v1/broadcasts/${id}`, { body: { subject: 'Winter' } })
  await page.waitForURL(new RegExp(`/campaigns/${id}$`))
  t.match(json, { status: 'draft' })
  t.match((await posthorn.call('GET', `/v1/broadcasts/${id}`)).json, {
    status: 'scheduled',
    subject: 'Winter',
  })
})
