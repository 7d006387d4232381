// Thorough: a browser with an authenticator.
// Issue 15: a passkey is made, logs in alone, proves again, and is removed, with Chromium's virtual authenticator.
import t from 'tap'
import { systemClock } from '../../src/clock/index.js'
import { startPosthorn } from '../support/posthorn.js'
import { firstOperator, goodPassword } from '../support/visitor.js'
import { buildScripts, launch, open } from './open.js'

t.test('a passkey logs in without a password, once for each challenge', async (t) => {
  buildScripts()
  const posthorn = await startPosthorn(t)
  const { store, accountId } = posthorn
  await firstOperator(t, posthorn, systemClock)
  const url = posthorn.url.replace('127.0.0.1', 'localhost')
  const { page, errors } = await open(t, await launch(t), 1280)
  const devices = await page.context().newCDPSession(page)
  await devices.send('WebAuthn.enable')
  await devices.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  await page.goto(`${url}/login?next=/me`)
  await page.getByLabel('Mail address').fill('olga@example.test')
  await page.getByLabel('Password', { exact: true }).fill(goodPassword)
  await page.getByRole('button', { name: 'Log in', exact: true }).click()
  await page.waitForURL(`${url}/me`)
  const cookie = async () => (await page.context().cookies())[0]?.value
  const before = await cookie()
  await page.getByLabel('Name of the new one').fill('My phone')
  await page.getByRole('button', { name: 'Add a passkey' }).click()
  await page.getByText('The passkey is added').waitFor()
  t.not(await cookie(), before, 'another factor, another value')
  const [made] = await store.read.selectFrom('passkeys').selectAll().execute()
  t.match(made, { name: 'My phone', used_at: null })

  await page.getByText('Olga').first().click()
  await page.getByRole('button', { name: 'Log out' }).click()
  await page.waitForURL(`${url}/login`)
  const posted = page.waitForRequest((one) => one.url() === `${url}/login/passkey`)
  await page.getByRole('button', { name: 'Log in with a passkey' }).click()
  await page.waitForURL(`${url}/a/${accountId}`)
  const body = (await posted).postData() ?? ''
  const [used] = await store.read.selectFrom('passkeys').selectAll().execute()
  t.ok((used?.counter ?? 0) > (made?.counter ?? 0), 'it counts')
  t.ok(used?.used_at)
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    'sec-fetch-site': 'same-origin',
    host: 'localhost',
  }
  const replayed = await fetch(`${url}/login/passkey`, {
    method: 'POST',
    body,
    headers,
    redirect: 'manual',
  })
  t.equal(replayed.status, 422, 'what was signed is good once')

  await store.write((tx) => tx.updateTable('sessions').set({ sudo_until: 0 }).execute())
  await page.goto(`${url}/me`)
  await page.getByText('Remove', { exact: true }).first().click()
  await page.getByRole('button', { name: 'Remove' }).click()
  await page.waitForURL(/\/sudo\/ask\?next=/)
  await page.getByRole('button', { name: 'Use a passkey' }).click()
  await page.getByText('The passkey is removed').waitFor()
  t.same(await store.read.selectFrom('passkeys').selectAll().execute(), [])
  t.same(errors, [])
})
