// Issue 15, point 3: the operator's pages, with data in each.
import t from 'tap'
import { logIn } from '../support/log-in.js'
import { startPosthorn } from '../support/posthorn.js'
import { fillForOperator } from './operator-data.js'

const paths = [
  '',
  '/accounts',
  '/accounts?q=nobody',
  '/users',
  '/queue',
  '/queue?class=campaign',
  '/queue?domain=slow.test&older=10m',
  '/queue/change/hold?domain=slow.test',
  '/held',
  '/sites',
  '/queue/change/release',
  '/sites/show?name=slow.test',
  '/sites/show?name=google',
  '/failover',
  '/nodes',
  '/inbound',
  '/parked',
  '/doctor',
  '/jobs',
  '/jobs/backup',
  '/backups',
  '/settings',
  '/settings?changed=yes',
  '/settings?section=outbound',
]

t.test(
  'every page of the operator shows what there is, and nothing of what others wrote runs',
  async (t) => {
    const posthorn = await startPosthorn(t)
    const { accountId, deliveryId, mailId } = await fillForOperator(posthorn)
    const operator = await logIn(posthorn, posthorn.accountId, 'operator')
    const account = `/accounts/${accountId}`
    const all = [
      ...paths,
      account,
      `${account}/rates`,
      `${account}/complaints`,
      `${account}/people`,
      `/queue/${deliveryId}`,
      `/inbound/${mailId}`,
    ]
    for (const path of all) {
      const { status, text } = await operator.get(`/operator${path}`)
      t.equal(status, 200, path)
      t.match(text, /<h1>/, path)
      t.notMatch(text, /<script>alert|<img src=x|undefined|\[object/, path)
      t.ok(text.length < 60_000, `${path}: ${text.length}`)
    }
    for (const path of ['/accounts/none', '/queue/1', '/queue/x', '/inbound/1', '/jobs/none']) {
      t.equal((await operator.get(`/operator${path}`)).status, 404, path)
    }
    t.match(
      (await operator.get('/operator/sites')).text,
      /Campaign mail that is slowed down.*the pool bulk.*goes at a tenth until .*40 of 50 attempts were refused/s,
    )
    const { text: settings } = await operator.get('/operator/settings')
    for (const as of ['&quot;5%&quot;', '&quot;7d&quot;', '&quot;90m&quot;', '&quot;36h&quot;']) {
      t.match(settings, as, 'a setting is shown as one writes it in the file')
    }
    t.equal((await operator.get('/operator/queue?account=nobody')).status, 422)
    const { status } = await operator.get('/operator/queue/change/fail?account=nobody')
    t.equal(status, 422)
  },
)

t.test('whoever is no operator finds no page of the operator, and changes nothing', async (t) => {
  const posthorn = await startPosthorn(t)
  const owner = await logIn(posthorn, posthorn.accountId, 'owner')
  for (const path of paths) t.equal((await owner.get(`/operator${path}`)).status, 404, path)
  const { accountId: other } = await posthorn.addAccount('Other')
  for (const path of [
    '/accounts',
    `/accounts/${other}/unpause`,
    '/queue/change/fail',
    '/users/invite',
  ]) {
    t.equal((await owner.post(`/operator${path}`, { name: 'x', note: 'x' })).status, 404, path)
  }
})
