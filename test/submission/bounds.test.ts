// Thorough: a whole appliance, and clients that send all that its bounds allow.
import { readdirSync } from 'node:fs'
import t from 'tap'
import { listSessions } from '../../src/submission/index.js'
import { Talk } from '../sandbox/talk.js'
import { initSandbox, serve } from '../support/process.js'
import { makeTempDir } from '../support/store.js'
import { idOf, plainToken, startSubmission, submit } from './start.js'

t.setTimeout(240_000)

const head = 'From: ada@sender.test\r\nSubject: x\r\n'

t.test('mail that arrives is bounded together, and stands in files without a name', async (t) => {
  const posthorn = await startSubmission(t, { settings: { submission: { max_arriving_mib: 16 } } })
  const line = Buffer.from(`${'x'.repeat(998)}\r\n`.repeat(7_000))
  const arriving = await Promise.all(
    Array.from({ length: 2 }, async (_, i) => {
      const { talk } = await Talk.greeted(t, posthorn.ports.plain ?? 0, `127.0.${i}.1`)
      await talk.say('EHLO me.test')
      await talk.say(`AUTH PLAIN ${plainToken(posthorn.apiKey)}`)
      await talk.say('MAIL FROM:<ada@sender.test>')
      await talk.say('RCPT TO:<bob@example.test>')
      await talk.say('DATA')
      talk.write(`${head}\r\n`)
      talk.write(line)
      return talk
    }),
  )
  const third = await posthorn.loggedIn()
  const reply = await submit(third, Buffer.concat([Buffer.from(`${head}\r\n`), line]), {})
  t.match(reply, /^452 4\.3\.1 Too much mail at once/, 'who comes last waits')
  t.match(await submit(third, `${head}\r\nx`), /^250/, 'small mail finds room')
  t.same(
    readdirSync(posthorn.dataDir).filter((name) => name.startsWith('arriving')),
    [],
  )
  for (const talk of arriving) t.match(await talk.say('.'), /^250 2\.0\.0/)
})

t.test('who says nothing is ended', async (t) => {
  const posthorn = await startSubmission(t, { settings: { submission: { idle_timeout: '1s' } } })
  const silent = await Talk.open(t, posthorn.ports.plain ?? 0)
  t.match(await silent.reply(), /^421 4\.4\.2 Timeout/)
  const { talk } = await Talk.greeted(t, posthorn.ports.plain ?? 0)
  await talk.say('EHLO me.test')
  await talk.say(`AUTH PLAIN ${plainToken(posthorn.apiKey)}`)
  t.match(await talk.upToData(), /^5|^354/)
})

t.test('one address has so many connections, others go on', async (t) => {
  const posthorn = await startSubmission(t, {
    settings: { submission: { connections_per_address: 2 } },
  })
  const port = posthorn.ports.plain ?? 0
  for (let i = 0; i < 2; i++) await Talk.open(t, port)
  t.match((await Talk.greeted(t, port)).greeting, /^421 4\.7\.0 Too many connections/)
  t.match((await Talk.greeted(t, port, '127.0.0.2')).greeting, /^220/)
})

t.test('the plain listener is for its networks alone', async (t) => {
  const posthorn = await startSubmission(t, {
    settings: { submission: { plain: { listen: '127.0.0.1:0', networks: ['127.3.0.0/16'] } } },
  })
  const port = posthorn.ports.plain ?? 0
  t.match((await Talk.greeted(t, port)).greeting, /^554 5\.7\.1/)
  t.match((await Talk.greeted(t, port, '127.3.0.1')).greeting, /^220/)
})

t.test('a stop writes down the sessions that are still connected', async (t) => {
  const posthorn = await startSubmission(t)
  const talk = await posthorn.loggedIn()
  const id = idOf(await submit(talk, `${head}\r\nx`))
  const silent = await Talk.open(t, posthorn.ports.plain ?? 0)
  await silent.say('EHLO silent.test')
  await posthorn.appliance.close()
  t.match(talk.unread, /^421 4\.3\.2 Server shutting down/)
  const sessions = await listSessions(posthorn.store.read, { refused: false, limit: 9 })
  t.match(
    sessions.map(({ helo, emailIds, accepted }) => ({ helo, emailIds, accepted })).sort(byHelo),
    [
      { helo: 'client.test', emailIds: [id], accepted: 1 },
      { helo: 'silent.test', emailIds: [], accepted: 0 },
    ],
  )
})

const byHelo = (a: { helo: string }, b: { helo: string }) => a.helo.localeCompare(b.helo)

t.test('a kill after the 250 loses nothing', async (t) => {
  const dataDir = makeTempDir(t)
  const { apiKey } = initSandbox(dataDir)
  const env = {
    POSTHORN_SUBMISSION_ENABLED: 'true',
    POSTHORN_SUBMISSION_STARTTLS: '',
    POSTHORN_SUBMISSION_TLS: '',
    POSTHORN_SUBMISSION_PLAIN_LISTEN: '127.0.0.1:0',
    POSTHORN_SUBMISSION_PLAIN_NETWORKS: '127.0.0.0/8',
  }
  const first = await serve(t, dataDir, env)
  const port = Number(/"port":(\d+),"listener":"plain"/.exec(first.log())?.[1])
  const talk = await Talk.open(t, port)
  await talk.say('EHLO me.test')
  t.match(await talk.say(`AUTH PLAIN ${plainToken(apiKey)}`), /^235/)
  const from = 'hello@example.test'
  const ids: string[] = []
  for (let i = 0; i < 30; i++) {
    const message = `From: ${from}\r\nSubject: ${i}\r\n\r\n${'x'.repeat(i * 20)}\r\n`
    const reply = await submit(talk, message, { from, to: [`r${i}@example.test`] })
    t.match(reply, /^250/)
    ids.push(idOf(reply))
  }
  await first.kill('SIGKILL')
  const second = await serve(t, dataDir, env)
  const statusOf = async (id: string) => {
    const answer = await fetch(`${second.url}/v1/emails/${id}`, {
      headers: { authorization: `Bearer ${apiKey}` },
    })
    return ((await answer.json()) as { email: { status: string } }).email.status
  }
  for (const id of ids) {
    while ((await statusOf(id)) !== 'delivered')
      await new Promise((resolve) => setTimeout(resolve, 50))
  }
  t.pass('all of them are delivered')
})
