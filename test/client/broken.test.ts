// Thorough: connections that are cut at every moment.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import t, { type Test } from 'tap'
import { metaOf, Posthorn } from '../../src/client/index.js'
import { startPosthorn } from '../support/posthorn.js'

const mail = { from: 'a@sender.test', to: 'b@x.test', subject: 'Once', html: '<p>Once</p>' }

/**
 * A proxy in front of an appliance that breaks one connection: at the first byte of a POST's answer, or at
 * the first byte of a POST on a connection that was used before.
 */
async function breakOnce(t: Test, url: string, when: 'answer' | 'reuse') {
  const { port } = new URL(url)
  let left = 1
  const swallowed: string[] = []
  const server = createServer((client) => {
    const upstream = connect(Number(port), '127.0.0.1')
    let requests = 0
    let isPost = false
    client.on('data', (bytes: Buffer) => {
      isPost = bytes.toString('latin1').startsWith('POST ')
      requests++
      if (when === 'reuse' && isPost && requests > 1 && left > 0) {
        left--
        client.resetAndDestroy()
        upstream.destroy()
      } else upstream.write(bytes)
    })
    upstream.on('data', (bytes: Buffer) => {
      if (when === 'answer' && isPost && left > 0) {
        left--
        // The appliance answers after the commit: the mail is in.
        swallowed.push(bytes.toString())
        client.resetAndDestroy()
      } else client.write(bytes)
    })
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      one.on('error', () => {})
      one.on('close', () => other.destroy())
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, swallowed }
}

async function inbox(url: string): Promise<unknown[]> {
  const { messages } = (await (await fetch(`${url}/sandbox.json`)).json()) as { messages: [] }
  return messages
}

t.test('a connection that breaks between commit and answer: one mail, the same id', async (t) => {
  const { url, apiKey } = await startPosthorn(t)
  const proxy = await breakOnce(t, url, 'answer')
  const posthorn = new Posthorn({ url: proxy.url, apiKey })
  const sent = await posthorn.emails.send(mail)
  t.match(metaOf(sent), { attempts: 2, replayed: true })
  t.ok(proxy.swallowed[0]?.includes(sent.id), 'it is the id of the answer that was lost')
  await posthorn.emails.wait(sent.id)
  t.equal((await inbox(url)).length, 1)
})

t.test('the same for a batch, of which each mail is sent once', async (t) => {
  const { url, apiKey } = await startPosthorn(t)
  const proxy = await breakOnce(t, url, 'answer')
  const posthorn = new Posthorn({ url: proxy.url, apiKey })
  const ids: string[] = []
  for await (const one of posthorn.emails.sendMany([mail, mail, mail])) {
    if ('id' in one) ids.push(one.id)
  }
  t.equal(ids.length, 3)
  t.ok(ids.every((id) => proxy.swallowed[0]?.includes(id)))
  for (const id of ids) await posthorn.emails.wait(id)
  t.equal((await inbox(url)).length, 3)
})

t.test('a kept connection that is closed at the moment of a POST: one mail', async (t) => {
  const { url, apiKey } = await startPosthorn(t)
  const proxy = await breakOnce(t, url, 'reuse')
  const posthorn = new Posthorn({ url: proxy.url, apiKey })
  // Which of its connections fetch takes is not ours to say: it uses one again sooner or later.
  const sent = []
  for (let attempts = 1; attempts === 1 && sent.length < 50; ) {
    const one = await posthorn.emails.send(mail)
    attempts = metaOf(one)?.attempts ?? 0
    sent.push(one)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  t.match(metaOf(sent.at(-1) ?? {}), { attempts: 2, replayed: false })
  for (const { id } of sent) await posthorn.emails.wait(id)
  t.equal((await inbox(url)).length, sent.length)
})
