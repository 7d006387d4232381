import t from 'tap'
import { findPlan, loadPlans, pauseSending, setMarketingPlan } from '../../src/billing/index.js'
import { packageFile } from '../../src/config/index.js'
import { deletePicture } from '../../src/pictures/index.js'
import { startPosthorn } from '../support/posthorn.js'
import { jpeg, png } from './samples.js'

t.test('a picture is uploaded, served, named, kept while it is used, and deleted', async (t) => {
  const posthorn = await startPosthorn(t)
  const ask = (method: string, path: string, body?: object) =>
    posthorn.call(method, `/v1${path}`, body === undefined ? {} : { body })
  const content = jpeg().toString('base64')
  const made = await ask('POST', '/pictures', { name: 'books.jpg', alt: 'Books', content })
  t.equal(made.status, 201)
  t.match(made.json, { name: 'books.jpg', contentType: 'image/jpeg', width: 2, height: 3 })
  const again = await ask('POST', '/pictures', {
    name: 'dot.png',
    content: png().toString('base64'),
  })
  t.match(await ask('GET', '/pictures?limit=1'), {
    json: { pictures: [{ name: 'dot.png' }], hasMore: true },
  })
  const { url, id } = made.json
  const served = await fetch(url)
  t.equal(served.status, 200)
  const bytes = Buffer.from(await served.arrayBuffer())
  t.notOk(bytes.includes('Lag'), 'where it was taken is not in it')
  t.equal(bytes.length, made.json.size)
  t.match(Object.fromEntries(served.headers), {
    'content-type': 'image/jpeg',
    'cache-control': /immutable/,
    'x-content-type-options': 'nosniff',
    'content-disposition': 'inline; filename="picture.jpg"',
  })
  t.equal(served.headers.get('set-cookie'), null)
  const known = { headers: { 'if-none-match': served.headers.get('etag') ?? '' } }
  t.equal((await fetch(url, known)).status, 304)
  t.equal((await fetch(`${url}x`)).status, 404)
  t.match(await ask('PATCH', `/pictures/${id}`, { alt: 'Three books' }), {
    json: { alt: 'Three books', name: 'books.jpg' },
  })

  const html = `<p><img src="${url}"></p>`
  const { store } = posthorn
  const meanwhile: typeof store = {
    ...store,
    write: async (work) => {
      await ask('POST', '/templates', { slug: 'welcome', subject: 'Hello', html })
      return await store.write(work)
    },
  }
  await t.rejects(
    deletePicture({ store: meanwhile }, posthorn.accountId, id),
    { message: /The template "welcome" shows/ },
    'a template that began to show it just before the write',
  )
  const refused = await ask('DELETE', `/pictures/${id}`)
  t.equal(refused.status, 409)
  t.match(refused.json.error, /The template "welcome" shows the picture "books.jpg"/)
  await ask('DELETE', '/templates/welcome')
  const plans = loadPlans(packageFile('config/plans.toml'))
  const plan = findPlan(plans.marketing, 'Marketing Plus')
  await posthorn.store.write((tx) => setMarketingPlan(tx, posthorn.accountId, plan))
  const { json: list } = await ask('POST', '/contacts/lists', { name: 'Readers' })
  const campaign = {
    from: 'a@sender.test',
    subject: 'Hi',
    html: '<p>x</p>',
    listId: list.id,
    draft: true,
    variants: [{ subject: 'One' }, { html }],
  }
  const { json: draft } = await ask('POST', '/broadcasts', campaign)
  t.match(await ask('DELETE', `/pictures/${id}`), { status: 409, json: { error: /"Hi" shows/ } })
  await ask('POST', `/broadcasts/${draft.id}/cancel`)
  await posthorn.store.write((tx) => pauseSending(tx, posthorn.accountId, 'bounce'))
  t.equal(
    (await fetch(url)).status,
    200,
    'mails that were sent show it while the account is paused',
  )
  t.equal((await ask('DELETE', `/pictures/${id}`)).status, 200)
  t.equal((await fetch(url)).status, 404)
  t.equal((await ask('GET', `/pictures/${id}`)).status, 404)
  t.equal((await fetch(again.json.url)).status, 200, 'the other stays')

  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>').toString('base64')
  t.match(await ask('POST', '/pictures', { name: 'x.png', content: svg }), {
    status: 422,
    json: { error: /SVG can hold scripts/, field: 'content' },
  })
})
