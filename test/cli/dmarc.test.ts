import t from 'tap'
import { openPlace } from './place.js'

t.test('posthorn dmarc shows what was reported, and the record asks for reports', async (t) => {
  const { run, json, refused } = await openPlace(t)
  await run('account', 'create', 'Shop')
  const added = await run('domain', 'add', 'shop.test', '--trust')
  t.equal(added.status, 0, added.stderr)
  t.match(added.stdout, 'v=DMARC1; p=none; rua=mailto:dmarc@mail.appliance.test')
  t.match((await run('dmarc')).stdout, /^No report about shop\.test has come/m)
  t.match(await json('dmarc', 'shop.test', '--days', '7', '--json'), {
    name: 'shop.test',
    reports: 0,
    sources: [],
  })
  t.match(await json('dmarc'), [{ name: 'shop.test' }])
  await refused(/no domain other\.test/, 'dmarc', 'other.test')
  t.match(await run('dmarc', '--days', '0'), { status: 2, stderr: /from 1 to 400/ })
})
