import t from 'tap'
import { loadPlans } from '../../src/billing/index.js'
import { systemClock as clock } from '../../src/clock/index.js'
import { isAnimated } from '../../src/dashboard/browser/animated.js'
import { picturePages } from '../../src/dashboard/pictures/routes.js'
import { listPictures } from '../../src/pictures/index.js'
import { hostile, isTame, startAccountPages } from '../dashboard/account-pages.js'
import { gif, jpeg, png, pngChunk, riff, webp } from './samples.js'

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
  const refused = await post('/pictures', form(['a.jpg', jpeg()], ['b.jpg', Buffer.from('<svg/>')]))
  t.equal(refused.status, 422)
  t.match(refused.text, /b\.jpg: An SVG can hold scripts/)
  const list = async () => (await listPictures(store.read, accountId, { limit: 10 })).page
  t.same(await list(), [], 'all of them or none')
  t.equal((await post('/pictures', form(['a.jpg', jpeg()], [hostile, gif()]))).status, 303)
  const [newest] = await list()
  t.equal((await list()).length, 2)
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

t.test('a browser knows pictures that move, which it must not make still', (t) => {
  const still = png()
  const moving = (before: Buffer) =>
    Buffer.concat([
      still.subarray(0, 33),
      before,
      pngChunk('acTL', Buffer.alloc(8)),
      still.subarray(33),
    ])
  t.same([png(), webp(), jpeg(), Buffer.alloc(0)].map(isAnimated), [false, false, false, false])
  t.equal(isAnimated(moving(Buffer.alloc(0))), true)
  t.equal(isAnimated(moving(pngChunk('gAMA', Buffer.alloc(4)))), true)
  t.equal(isAnimated(moving(Buffer.alloc(0)).subarray(0, 40)), true, 'where it is not told in time')
  const flags = Buffer.from([0x12, 0, 0, 0, 2, 0, 0, 1, 0, 0])
  const film = Buffer.concat([
    Buffer.from('WEBP'),
    riff('VP8X', flags),
    riff('ANIM', Buffer.alloc(6)),
  ])
  t.equal(isAnimated(riff('RIFF', film)), true)
  t.end()
})
