// Times are shown and typed in the reader's zone, which the browser says once and the profile keeps.
import t from 'tap'
import { applianceKeyFile } from '../../src/app/index.js'
import { systemClock as clock } from '../../src/clock/index.js'
import { openApplianceKey } from '../../src/config/index.js'
import { addDomain } from '../../src/domains/index.js'
import { logIn } from '../support/log-in.js'
import { startPosthorn } from '../support/posthorn.js'

const posthorn = await startPosthorn(t)
const { store, accountId } = posthorn
const key = openApplianceKey(applianceKeyFile(posthorn.dataDir))
await addDomain({ store, clock, key }, accountId, 'zone.test', { trust: true })
const form = {
  from: 'a@zone.test',
  to: 'b@one.test',
  subject: 'Later',
  content: 'x',
  format: 'text',
  copies: 'each',
}

t.test('the browser’s zone is taken once, and the profile’s wins', async (t) => {
  const ann = await logIn(posthorn, accountId, 'owner')
  t.match((await ann.get('/me')).text, 'data-zone-unknown')
  t.equal((await ann.post('/me/time-zone', { timeZone: 'Africa/Lagos' })).status, 204)
  const profile = (await ann.get('/me')).text
  t.notMatch(profile, 'data-zone-unknown')
  t.match(profile, /<option value="Africa\/Lagos" selected/)
  await ann.post('/me/time-zone', { timeZone: 'Asia/Tokyo' })
  t.match(
    (await ann.get('/me')).text,
    /<option value="Africa\/Lagos" selected/,
    'a journey changes nothing',
  )
  t.equal((await ann.post('/me', { name: 'Ann', timeZone: 'Asia/Tokyo' })).status, 303)
  t.match((await ann.get('/me')).text, /<option value="Asia\/Tokyo" selected/)
  const wrong = await ann.post('/me', { name: 'Ann', timeZone: 'Mars/Base' })
  t.equal(wrong.status, 422)
  t.match(wrong.text, 'Choose a time zone such as Africa/Lagos')
})

t.test(
  'a mail leaves when a clock there shows what was typed, and its page says both times',
  async (t) => {
    const ann = await logIn(posthorn, accountId, 'owner')
    await ann.post('/me/time-zone', { timeZone: 'Africa/Lagos' })
    t.match((await ann.get(`/a/${accountId}/emails/new`)).text, 'Leaves at (Africa/Lagos)')
    const day = new Date(Date.now() + 2 * 86_400_000).toISOString().slice(0, 10)
    const sent = await ann.post(`/a/${accountId}/emails/new`, {
      ...form,
      scheduledAt: `${day}T09:00`,
    })
    t.equal(sent.status, 303, sent.text)
    const mail = (await ann.get(sent.to)).text
    t.match(mail, `datetime="${day}T08:00:00.000Z"`)
    t.match(mail, /09:00:00 in Lagos; [^"]*08:00:00 UTC/)
  },
)
