// Thorough: a browser types into the editor.
// The editor of templates in a real browser: typing, the preview, a fault's place, no CSP error.
import t from 'tap'
import { logIn } from '../support/log-in.js'
import { startPosthorn } from '../support/posthorn.js'
import { missing } from '../support/tools.js'
import { buildScripts, launch, open } from './open.js'

t.test('what is typed is seen beside it, and saved', { skip: missing('chromium') }, async (t) => {
  buildScripts()
  const posthorn = await startPosthorn(t)
  const { url, accountId, call } = posthorn
  const body = { slug: 'hi', subject: 'Hi', html: '<p>one</p>' }
  await call('POST', '/v1/templates', { body })
  const { cookie } = await logIn(posthorn, accountId, 'member')
  const [name = '', value = ''] = cookie.split('=')
  const browser = await launch(t)
  const { page, errors } = await open(t, browser, 1280)
  await page.context().addCookies([{ name, value, url }])
  await page.goto(`${url}/a/${accountId}/templates/hi`)

  const editor = page.getByRole('textbox', { name: 'HTML' })
  const write = async (text: string) => {
    await editor.click()
    await page.keyboard.press('Control+A')
    // By itself: Chromium gives a text that takes another's place the style of that one, as an attribute.
    await page.keyboard.press('Delete')
    await page.keyboard.insertText(text)
  }
  await write('<p>Dear {{ friend }}</p>')
  const sample = page.getByLabel('friend')
  await sample.fill('Ada')
  const mail = page.frameLocator('iframe[title="The mail as HTML"]')
  await mail.getByText('Dear Ada').waitFor()
  t.equal(await page.evaluate('document.activeElement.name'), 'sample', 'the focus stays')

  await write('<p>Dear </p>')
  await page.keyboard.press('Control+Home')
  for (let at = 0; at < '<p>Dear '.length; at++) await page.keyboard.press('ArrowRight')
  await page.getByText('What you know of each reader').click()
  await page.getByLabel('If there is none').fill('re"ader')
  await page.getByRole('button', { name: 'Insert' }).first().click()
  await mail.getByText('Dear ').waitFor()
  t.match(await editor.textContent(), '<p>Dear {{ firstName | default: "reader" }}</p>')

  await write('<p>{% if x %}</p>')
  await page.locator('.cm-lint-marker-error').waitFor()
  await page.getByRole('alert').getByText('HTML, line 1, column 4').waitFor()

  await write('<p>Dear {{ friend }}!</p>')
  await mail.getByText('!').waitFor()
  await page.getByRole('button', { name: 'Save as version 2' }).click()
  await page.getByText('Saved as version 2').waitFor()
  const { json } = await call('GET', '/v1/templates/hi')
  t.match(json, { version: 2, html: '<p>Dear {{ friend }}!</p>' })
  t.same(errors, [])
})

t.test(
  'what is wrong with a card is told beside it as it is typed',
  { skip: missing('chromium') },
  async (t) => {
    buildScripts()
    const posthorn = await startPosthorn(t)
    const { url, accountId } = posthorn
    const { cookie } = await logIn(posthorn, accountId, 'member')
    const [name = '', value = ''] = cookie.split('=')
    const { page, errors } = await open(t, await launch(t), 1280)
    await page.context().addCookies([{ name, value, url }])
    await page.goto(`${url}/a/${accountId}/templates/-/new?with=blocks`)
    const words = page.locator('#block-1 textarea')
    const fault = page.locator('#block-1 .fault')
    await words.fill('Hello {{ firstName')
    await fault.waitFor()
    t.equal(await words.getAttribute('aria-invalid'), 'true')
    const fold = page.locator('#block-1 .fold input')
    t.ok(await fold.isChecked())
    await fold.press('Enter')
    t.notOk(await fold.isChecked())
    t.ok(await fault.isVisible(), 'it is not folded away')
    await words.fill('Hello {{ firstName }}')
    await fault.waitFor({ state: 'detached' })
    t.equal(await words.getAttribute('aria-invalid'), null)
    t.equal(await words.isVisible(), false)
    await fold.check()
    t.ok(await words.isVisible())
    t.same(errors, [])
  },
)
