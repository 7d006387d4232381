import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { initSandbox, serve } from '../support/process.js'
import { makeTempDir } from '../support/store.js'

// An object literal that begins with a spread and then has a new field (`{ ...mail, limit }`), one with a getter, and a
// function that is made by `promisify` has a hidden class of its own in Node 20, each time: 1 to 20 µs, garbage that
// only a whole collection takes away, and everything that reads the object is slower. The log of V8 tells of each.
t.test('what is done for every mail makes no hidden class each time', async (t) => {
  const mails = 200
  const dataDir = makeTempDir(t)
  const { apiKey } = initSandbox(dataDir)
  const logs = join(dataDir, 'maps')
  mkdirSync(logs)
  const nodeArgs = ['--log-maps', `--logfile=${join(logs, 'maps.log')}`]
  const env = { POSTHORN_HTTP_RATE_LIMIT_REQUESTS: '0' }
  const { url, kill } = await serve(t, dataDir, env, nodeArgs)
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
  const ask = async (path: string, body?: object) => {
    const response = await fetch(`${url}${path}`, {
      headers,
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    })
    t.equal(response.status, 200)
    return (await response.json()) as { id: string; email: { status: string } }
  }
  const sendSome = async () => {
    let last = ''
    for (let i = 0; i < mails; i++) {
      const mail = { from: 'a@example.test', to: `b${i}@one.test`, subject: 's', html: '<p>x</p>' }
      last = (await ask('/v1/emails/send', mail)).id
    }
    while ((await ask(`/v1/emails/${last}`)).email.status !== 'delivered') {
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
  // What is made once, and while V8 learns.
  await sendSome()
  // Each thread has a file of its own.
  const before = new Map(readdirSync(logs).map((name) => [name, statSync(join(logs, name)).size]))
  await sendSome()
  await kill('SIGTERM')
  const events = [...before].flatMap(([name, from]) =>
    readFileSync(join(logs, name)).subarray(from).toString('latin1').split('\n'),
  )
  const places = new Map<string, number>()
  for (const event of events) {
    // map,what,time,from,to,pc,line,column,why,name
    const [kind, what, , , , , line, column, why, name] = event.split(',')
    const isOwn =
      (why === 'prototype' && name !== 'default') || /RootModification|Accessors/.test(why ?? '')
    if (kind !== 'map' || !isOwn) continue
    const place = `${what} ${line}:${column} ${why} ${name}`
    places.set(place, (places.get(place) ?? 0) + 1)
  }
  t.ok(events.length > mails, 'V8 has told')
  t.same(
    [...places].filter(([, times]) => times >= mails / 2),
    [],
    'line, column of the compiled file; why, field',
  )
})
