import t from 'tap'
import { isPosthornError, metaOf, NotFoundError, Posthorn } from '../../src/client/index.js'
import { startPosthorn } from '../support/posthorn.js'

const mail = {
  from: 'Shop <shop@sender.test>',
  to: 'ann@example.org',
  subject: 'Hello',
  html: '<p>Hello</p>',
}

t.test('a client sends to an appliance and waits for the delivery', async (t) => {
  const { url, apiKey } = await startPosthorn(t)
  const posthorn = new Posthorn({ url, apiKey })
  const sent = await posthorn.emails.send(mail)
  t.match(metaOf(sent), { status: 200, attempts: 1, replayed: false, requestId: /^[0-9a-f-]{36}$/ })
  const email = await posthorn.emails.wait(sent.id)
  t.equal(email.status, 'delivered')

  const again = await posthorn.emails.send(mail, { idempotencyKey: 'order-1' })
  const repeated = await posthorn.emails.send(mail, { idempotencyKey: 'order-1' })
  t.equal(repeated.id, again.id)
  t.equal(metaOf(repeated)?.replayed, true, 'the same key is answered as the first time')

  const results = []
  for await (const one of posthorn.emails.sendMany([mail, { ...mail, to: 'nobody' }, mail])) {
    results.push('error' in one ? { index: one.index } : { index: one.index, sent: true })
  }
  t.same(results, [{ index: 0, sent: true }, { index: 1 }, { index: 2, sent: true }])

  const missing = await posthorn.emails.get('01a1fc92-9915-7533-8296-04ee3d91dd72').catch((e) => e)
  t.type(missing, NotFoundError)
  t.ok(isPosthornError(missing, 'not_found'))
  t.match(await posthorn.version(), { client: /^\d/, server: /^\d/ })
  t.ok((await posthorn.plans.list()).length > 0)
})
