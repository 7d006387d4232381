// Thorough: a browser writes a campaign.
// A draft in a real browser: it is kept as it is typed, and whoever has changed it meanwhile loses nothing.
import t from 'tap'
import { findPlan, loadPlans, setMarketingPlan } from '../../src/billing/index.js'
import { packageFile } from '../../src/config/index.js'
import { logIn } from '../support/log-in.js'
import { startPosthorn } from '../support/posthorn.js'
import { missing } from '../support/tools.js'
import { buildScripts, launch, open } from './open.js'

t.test('a draft is kept as it is typed', { skip: missing('chromium') }, async (t) => {
  buildScripts()
  const posthorn = await startPosthorn(t)
  const { url, accountId, store } = posthorn
  const plans = loadPlans(packageFile('config/plans.toml'))
  const plan = findPlan(plans.marketing, 'Marketing Plus')
  await store.write((tx) => setMarketingPlan(tx, accountId, plan))
  const { cookie } = await logIn(posthorn, accountId, 'owner')
  const [name = '', value = ''] = cookie.split('=')
  const browser = await launch(t)
  const { page, errors } = await open(t, browser, 1280)
  await page.context().addCookies([{ name, value, url }])
  await page.goto(`${url}/a/${accountId}/campaigns/new?with=html`)

  const kept = page.getByRole('status').getByText('Kept', { exact: true })
  const subject = page.getByLabel('Subject')
  await subject.pressSequentially('Autumn')
  await kept.waitFor()
  const id = page.url().split('/').at(-1) ?? ''
  const draft = async () => (await posthorn.call('GET', `/v1/broadcasts/${id}`)).json
  t.match(await draft(), { status: 'draft', subject: 'Autumn' })
  t.equal(await page.evaluate('document.activeElement.name'), 'subject', 'the focus stays')
  await subject.pressSequentially(' leaves')
  await kept.waitFor()
  t.match(await draft(), { subject: 'Autumn leaves' })
  const changes = await store.read
    .selectFrom('audit_log')
    .select('action')
    .where('action', 'like', 'broadcast.%')
    .execute()
  t.same(
    changes.map(({ action }) => action),
    ['broadcast.create', 'broadcast.change'],
  )

  await posthorn.call('PATCH', `/v1/broadcasts/${id}`, { body: { subject: 'By another' } })
  await subject.pressSequentially('!')
  await page.getByRole('status').getByText('Somebody else has changed this draft').waitFor()
  t.match(await draft(), { subject: 'By another' })
  t.same(
    errors.filter((error) => !error.includes('422')),
    [],
  )
})
