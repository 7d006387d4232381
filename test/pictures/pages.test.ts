import t from 'tap'
import { loadPlans } from '../../src/billing/index.js'
import { systemClock as clock } from '../../src/clock/index.js'
import { picturePages } from '../../src/dashboard/pictures/routes.js'
import { listPictures } from '../../src/pictures/index.js'
import { hostile, isTame, startAccountPages } from '../dashboard/account-pages.js'
import { gif, jpeg } from './samples.js'

t.test('pictures are added several at once, shown, named and deleted by pages', async (t) => {
  const plans = loadPlans('config/plans.toml')
  const { store, accountId, get, post } = await startAccountPages(t, ({ account }, { store }) =>
    picturePages(account, { store, clock, plans, publicUrl: 'http://127.0.0.1:8081' }),
  )
  const empty = await get('/pictures')
  t.match(empty.text, /No picture yet/)
  t.match(empty.text, /recipients elsewhere would see none/, 'the address is of this machine')
  const form = (...files: [string, Buffer][]) => {
    const fields = new FormData()
    fields.set('alt', hostile)
    for (const [name, bytes] of files)
      fields.append('file', new Blob([new Uint8Array(bytes)]), name)
    return fields
  }
  const refused = await post('/pictures', form(['b.jpg', Buffer.from('<svg/>')]))
  t.equal(refused.status, 422)
  t.match(refused.text, /b\.jpg: An SVG can hold scripts/)
  t.match((await post('/pictures', form())).text, 'Choose a picture')
  t.notMatch(refused.text, 'file: ')
  const list = async () => (await listPictures(store.read, accountId, { limit: 10 })).page
  t.same(await list(), [])
  t.equal((await post('/pictures', form(['a.jpg', jpeg()], [hostile, gif()]))).status, 303)
  const [newest] = await list()
  t.same(
    (await list()).map(({ alt }) => alt),
    ['', ''],
    'one sentence cannot say what each of several shows',
  )
  const shown = (await get('/pictures')).text
  t.equal(shown.match(/#field-alt"[^>]*>Say what it shows</g)?.length, 2, 'it is said on its page')
  const alone = form(['c.jpg', jpeg()])
  t.equal((await post('/pictures', alone)).status, 303)
  const [third] = await list()
  t.equal(third?.alt, hostile)
  t.equal((await post(`/pictures/${third?.id}/delete`, {})).status, 303)
  isTame(t, await get('/pictures'), 'what others wrote is text')
  const path = `/pictures/${newest?.id}`
  t.match((await get(path)).text, /3 × 2 pixels/)
  t.equal((await get(`${path}/file`)).headers.get('content-type'), 'image/gif')
  t.equal((await get(path, 'stranger')).status, 404)
  t.equal((await post(path, { name: 'dot', alt: '' })).status, 303)
  t.match(await list(), [{ name: 'dot', alt: '' }, {}])
  t.equal((await post(`${path}/delete`, {})).status, 303)
  t.equal((await list()).length, 1)
})
